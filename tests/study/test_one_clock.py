"""An explanation after an amendment has one clock: steps as they count now, or the times that were told."""

import re
from datetime import UTC, datetime

import numpy as np
import pytest

import windvane as wv
from windvane.cli.main import main
from windvane.protocol import Record
from windvane.study import Study
from windvane.study.numbering import renumbered

GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.02}
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()


def measured(x, n, change):
    summit = 0.2 if n <= change else 0.8
    return float(-10.0 * (x - summit) ** 2 + 0.05 * np.cos(37.0 * n) + 3.0 * (n > change))


def told(study, numbers, *, change, begin=None):
    for n in numbers:
        x = (0.37 * n) % 1.0
        study.add([x], measured(x, n, change), None if begin is None else begin + 60.0 * n)


def oracle(study, algorithm, taken, **options):
    """The reset of an optimiser that is told what is left, and no times."""
    optimizer = wv.make(algorithm, study.space, seed=0, **options)
    events = [
        optimizer.tell(record.x, record.y)
        for record in study.events(kinds=["told"])
        if record.seq not in taken
    ]
    return [event for event in events if event.reset][-1]


@pytest.mark.parametrize("before", [12, 30], ids=["the reset came later", "the reset was there"])
def test_a_reset_is_where_and_what_it_is_without_the_values_taken_back(tmp_path, before):
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), "et-gp-ucb", seed=0, **GIVEN) as study:
        told(study, range(1, before + 1), change=20)
        for seq in (3, 4, 5):
            study.retract(study.events(seq - 1, 1)[0])
        told(study, range(before + 1, 31), change=20)
        wanted = oracle(study, "et-gp-ucb", (3, 4, 5), **GIVEN)
        found = study.explain()
        assert (found.reset.step, found.reset.time) == (wanted.step, wanted.step)
        assert (found.reset.reason, found.reset.elapsed) == (wanted.reason, wanted.elapsed)
        assert found.data.oldest_time == found.data.oldest_step
        assert f"the oldest from step {found.data.oldest_step}, " in found.text
        assert "units of time" not in found.text
        assert not re.search(r"\btime \d", found.text)


@pytest.mark.parametrize("before", [8, 18, 32])
def test_what_a_mixture_says_has_one_clock(tmp_path, before):
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), seed=0) as study:
        told(study, range(1, before + 1), change=22)
        for seq in (3, 4, 5):
            study.retract(study.events(seq - 1, 1)[0])
        told(study, range(before + 1, 33), change=22)
        found = study.explain()
        assert found.reset.kind == "belief"
        assert "step 21" in found.reset.reason  # the 24th value, without three
        assert found.reset.change["step"] == found.reset.change["time"] == 21
        assert f"at step {found.reset.step}, " in found.text
        assert not re.search(r"\btime \d", found.text)
        assert "units of time" not in found.text
        assert all(step == time for step, time in found.step_times.items())


def test_times_that_were_told_are_told(tmp_path):
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), seed=0) as study:
        told(study, range(1, 33), change=22, begin=NOON)
        for seq in (3, 4, 5):
            study.retract(study.events(seq - 1, 1)[0])
        found = study.explain()
        assert "2026-03-01 12:24:00 UTC (step 21)" in found.reset.reason
        assert found.reset.change["time"] == NOON + 24 * 60.0
        assert found.data.oldest_time == NOON + 60.0 * (found.data.oldest_step + 3)


def test_the_shell_speaks_of_steps_too(tmp_path, capsys):
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), "et-gp-ucb", seed=0, **GIVEN) as study:
        told(study, range(1, 13), change=20)
        study.retract(study.events(2, 1)[0])
        told(study, range(13, 31), change=20)
        step = study.explain().reset.step
    for verb in ("show", "events"):
        assert main(["study", verb, "s", "--db", str(tmp_path / "s.db")]) == 0
        said = capsys.readouterr().out
        assert not re.search(r"\btime \d", said)
        assert verb == "events" or f"last reset  step {step}, " in said


@pytest.mark.parametrize(
    ("time", "step", "told", "clock"),
    [
        (None, 5, None, None),
        (5.0, 5, None, None),
        (7.0, 5, None, None),  # two were taken back
        (7.5, 5, None, 7.5),
        (NOON, 5, None, NOON),  # one after a time that was told
        (5.0, 5, 5.0, 5.0),
        (4.0, 5, None, 4.0),
        (None, None, None, None),
    ],
)
def test_the_clock_of_a_record(time, step, told, clock):
    assert Record(9, "told", 0.0, step=step, time=told, event={"time": time}).clock == clock


def test_a_reset_that_the_shell_tells_of_has_steps(tmp_path, capsys):
    place = ["s", "--db", str(tmp_path / "s.db")]
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), seed=0) as study:
        told(study, range(1, 19), change=22)
        for seq in (3, 4, 5):
            study.retract(study.events(seq - 1, 1)[0])
    for n in range(19, 33):
        x = (0.37 * n) % 1.0
        assert main(["study", "tell", *place, "--at", f"[{x}]", str(measured(x, n, 22))]) == 0
    said = capsys.readouterr().out
    assert main(["study", "events", *place]) == 0
    for shown in (said, capsys.readouterr().out):
        assert "RESET: a sudden change at step 21 is believed" in shown
        assert not re.search(r"\btime \d", shown)


@pytest.mark.parametrize("before", [8, 32], ids=["the reset came later", "the reset was there"])
def test_so_has_the_reset_of_a_constraint(tmp_path, before):
    limits = {"heat": wv.AtMost(10.0)}
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), seed=0, constraints=limits) as study:
        for n in range(1, 33):
            x = (0.37 * n) % 1.0
            study.add([x], float(np.sin(x)), heat=measured(x, n, 22))
            if n == before:
                for seq in (3, 4, 5):
                    study.retract(study.events(seq - 1, 1)[0])
        found = study.explain()
        (heat,) = found.constraints
        step = 21 if before < 22 else 20  # as it was believed then
        assert f"a sudden change at step {step}" in heat.last_reset["reason"]
        assert heat.last_reset["step"] == heat.last_reset["time"]
        assert not re.search(r"\btime \d", found.text)


@pytest.mark.parametrize("limited", [False, True], ids=["the objective", "a constraint"])
def test_an_event_after_a_value_taken_back_speaks_of_steps(tmp_path, limited):
    """Told no time, the model counts on where values were taken back; nobody is told that count."""
    limits = {"constraints": {"heat": wv.AtMost(10.0)}} if limited else {}
    with Study.create(tmp_path / "s.db", "s", wv.Box([(0, 1)]), seed=0, **limits) as study:
        for n in range(1, 33):
            x = (0.37 * n) % 1.0
            y = measured(x, n, 22)
            study.add([x], np.sin(x) if limited else y, **({"heat": y} if limited else {}))
            if n == 8:
                for seq in (3, 4, 5):
                    study.retract(study.events(seq - 1, 1)[0])
        told = [
            each.event["outcomes"]["heat"] if limited else each.event for each in study.events(kinds=["told"])
        ]
        (said,) = [each for each in told if each["reset"]]
        assert said["reason"].startswith("a sudden change at step 21 is believed")
        assert said["sentence"][1] == {"step": 21, "time": None, "last": None, "last_time": None}
        assert said["change"]["time"] == 21
        if not limited:
            assert [each.reason for each in study.events(resets=True)] == [said["reason"]]


def test_words_that_look_like_steps_are_left_alone(tmp_path):
    """A trigger's own words are nobody's to patch: only the steps that it names are counted anew."""
    event = {"step": 9, "time": 9.0, "reason": "valve at step 7 of 9, since step 5", "change": None}
    said = ["valve at step 7 of 9, since ", {"step": 5, "time": None, "last": None, "last_time": None}]
    moved = renumbered(event | {"sentence": said}, 7, 2, timed=False)
    assert moved["reason"] == "valve at step 7 of 9, since step 3"
    assert renumbered(event | {"sentence": []}, 7, 2, timed=False)["reason"] == event["reason"]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            {"change": {"step": 5, "probability": 0.6, "kind": "new", "time": 7.5}, "statistic": 0.97},
            "a sudden change at time 7.5 (step 3) is believed with probability 0.97",
        ),
        (
            {
                "change": {"step": 5, "probability": 0.6, "kind": "return", "regime": [3, 4]},
                "statistic": 0.97,
            },
            "the regime of steps 1 to 2 is back since step 3: believed with probability 0.97",
        ),
        ({"outlier": 8}, "outlier at step 6: the second look does not confirm it"),
        ({"outlier": 9}, "as it was written"),
    ],
    ids=["change", "return", "outlier", "no step"],
)
def test_sentences_of_earlier_versions_are_made_anew_from_what_they_have(said, reason):
    event = {"step": 9, "time": 9.5, "reason": "as it was written", **said}
    assert renumbered(event, 7, 2, timed=True)["reason"] == reason
    assert renumbered(event, 9, 0, timed=True)["reason"] == "as it was written"
