"""A journal that was altered is named as such: which record, and what to do; the caller is not to blame."""

from contextlib import suppress

import pytest

import windvane as wv
from windvane.errors import CorruptState, InvalidArgument
from windvane.study import Study

BOX = wv.Box([(0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.01, "seed": 3}


@pytest.mark.parametrize(
    "change",
    [
        "event = NULL",
        "event = '{}'",
        "event = '[]'",
        "event = '{\"values\": 5}'",
        'event = \'{"outcomes": {"heat": 3}}\', y = 1.0',
        "y = NULL",
        "y = 1e300",
        "x = NULL",
        "x = '[2.0]'",
        "x = '\"left\"'",
        "x = '{'",
        "metadata = '7'",
        "kind = 'eaten'",
        "time = 1e308",
    ],
)
def test_a_record_that_was_altered(tmp_path, change):
    with Study.create(tmp_path / "s.db", "s", BOX, "et-gp-ucb", **GIVEN) as study:
        for n in range(3):
            study.add([0.25 * n], 0.1 * n, key=f"k{n}", time=float(n))
        with study.database.link.writing() as connection:
            connection.exec_driver_sql(f"UPDATE windvane_events SET {change} WHERE seq = 2")
    for act, again in (
        (lambda s: s.add([0.5], 1.0), False),
        (lambda s: s.best(), False),
        (lambda s: s.rebuild(), True),
        (lambda s: s.retract(s.events()[0]), True),
    ):
        with Study.open(tmp_path / "s.db", "s") as study:
            # such a value might have been told; followed again, what lies outside the space is left out
            if change in ("event = '{}'", "time = 1e308") or (change.startswith("x") and again):
                with suppress(CorruptState):
                    act(study)
            else:
                with pytest.raises(
                    CorruptState, match=r"record 2: altered.*Restore the database from a backup"
                ):
                    act(study)


@pytest.mark.parametrize("algorithm", ["auto", "et-gp-ucb"])
def test_times_without_a_difference_are_refused(tmp_path, algorithm):
    with Study.create(tmp_path / "s.db", "s", BOX, algorithm, **GIVEN) as study:
        for time in (-1.7e308, 1.7e308):
            with pytest.raises(InvalidArgument, match=r"^time="):
                study.add([0.5], 1.0, time=time)
        for time in (-1e100, 0.0, 1e100):
            study.add([0.5], 1.0, time=time)
            study.tell(study.ask(), 0.5)
    with Study.open(tmp_path / "s.db", "s") as study:
        assert study.optimizer.size > 0
        study.ask()
