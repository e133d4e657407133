"""A study that was open when the process forked: both go on with it."""

import os
import signal
import threading

import pytest

import windvane as wv
from windvane.study import Study

BOX = wv.Box([(0.0, 1.0)])
LONG = 60  # seconds after which a test has failed


def add_three(study):
    for n in range(3):
        study.add([0.75], 3.0, key=f"parent-{n}")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_both_go_on(database_url):
    with Study.create(
        database_url, "s", BOX, "et-gp-ucb", kernel=wv.RBF(0.2), noise_variance=0.01, seed=3
    ) as study:
        study.add([0.5], 1.0)
        child = os.fork()
        if child == 0:
            status = 1
            signal.alarm(LONG)
            try:
                assert study.database.link._engine.pool.checkedin() == 0  # what was connected is the other's
                for n in range(3):
                    study.add([0.25], 2.0, key=f"child-{n}")
                status = 0
            finally:
                os._exit(status)
        ours = threading.Thread(target=lambda: add_three(study), daemon=True)
        ours.start()
        ours.join(LONG)
        assert not ours.is_alive()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        study.add([0.5], 4.0)
        assert sorted(record.y for record in study.events()) == [1.0, 2.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0]
        assert study.optimizer.state() == Study.open(study.database, "s").optimizer.state()
