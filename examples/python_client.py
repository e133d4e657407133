"""A controller in Python: asks and tells over HTTP, and hears of resets as they happen.

Needs a running `windvane serve`. The plant jumps half-way; the study notices and starts afresh.
"""

import math
import os
import sys
import threading

import windvane as wv
from windvane.client import Client, RemoteStudy
from windvane.errors import UnknownName


def plant(x: float, step: int, steps: int) -> float:
    """What would be measured: its optimum is at 0.3, and later at 0.7."""
    return math.exp(-30 * (x - (0.3 if step <= steps / 2 else 0.7)) ** 2)


def alarm(study: RemoteStudy) -> None:
    """Say so when the study was reset."""
    try:
        for record in study.stream(resets=True):
            print(f"reset at step {record.step}: {record.reason}", flush=True)
    except UnknownName:
        pass  # deleted below: the end of this example


def main() -> None:
    """Run the plant for a while."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    client = Client(
        os.environ.get("WINDVANE_URL", "http://127.0.0.1:8000"), token=os.environ.get("WINDVANE_TOKEN")
    )
    space = wv.Space(gain=wv.Real(0, 1))
    study = client.create(
        f"python-example-{os.getpid()}",
        space,
        "et-gp-ucb",
        seed=1,
        kernel=wv.RBF(0.2),
        noise_variance=0.001,
    )
    listener = threading.Thread(target=alarm, args=(study,))
    listener.start()
    try:
        for step in range(1, steps + 1):
            trial = study.ask()
            study.tell(trial, plant(trial.x["gain"], step, steps))
        best = study.best()
        print(f"believed best: gain = {best.x['gain']:.3f}, mean {best.mean:.3f}")
        print(study.explain())
    finally:
        study.delete()
        listener.join()


if __name__ == "__main__":
    main()
