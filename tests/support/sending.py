"""A sender of webhooks that runs, and studies that give it something to send."""

from contextlib import contextmanager

import windvane as wv
from windvane.service.metrics import Metrics
from windvane.service.sender import Sender
from windvane.study import Study

PERIODIC = {"algorithm": "r-gp-ucb", "period": 2}  # resets every second step, whatever it is told


@contextmanager
def sending(database, first_wait=0.05):
    metrics = Metrics(database)
    thread = Sender(database, metrics, first_wait=first_wait, idle=0.01)
    thread.start()
    try:
        yield metrics
    finally:
        thread.stop()


def outcomes(metrics):
    lines = metrics.text().decode().splitlines()
    found = [line for line in lines if line.startswith("windvane_webhook_deliveries_total{")]
    return {line.split('"')[1]: float(line.split()[-1]) for line in found}


def reset_twice(database, name="plant"):
    study = Study.create(database, name, wv.Box([(0, 1)]), seed=0, **PERIODIC)
    for i in range(4):
        study.add([0.2 * i], 0.1)
    assert study.summary().resets >= 1
    return study.summary().resets
