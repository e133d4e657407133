"""What everything that speaks like a `Study` must do, for pytest: in a file, on a server, over HTTP."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from windvane.algorithms import make
from windvane.data import Event
from windvane.errors import Conflict, InvalidArgument, UnknownName, WindvaneError
from windvane.kernels import RBF
from windvane.protocol import StudyProtocol
from windvane.spaces import Arms, Box, Choice, Context, Integer, Real, Space

OPTIONS: dict[str, Any] = {"algorithm": "et-gp-ucb", "kernel": RBF(0.3), "noise_variance": 0.01, "seed": 5}
BOX = Box([(0.0, 1.0), (-5.0, 5.0)])
POINTS = [[0.1, -3.0], [0.5, 0.0], [0.9, 4.0]]
MakeStudy = Callable[..., StudyProtocol]


class StudySuite:
    """Subclass it, with a fixture `make_study`: a function of a name, a space and the options of `make`.

        class TestMine(StudySuite):
            @pytest.fixture
            def make_study(self, tmp_path):
                with Database(tmp_path / "s.db", create=True) as database:
                    yield lambda name, space, **options: Study.create(database, name, space, **options)

    Whatever it returns is asked and told, and must do what a study on this machine does: number its trials,
    keep every record, believe what an optimiser believes that was told the same, and on an error change
    nothing.
    """

    @pytest.fixture
    def make_study(self) -> MakeStudy:
        """To be overridden."""
        raise NotImplementedError("make_study: a suite of studies needs this fixture; see StudySuite")

    @pytest.fixture
    def study(self, make_study: MakeStudy) -> StudyProtocol:
        """A study of two numbers."""
        return make_study("suite", BOX, **OPTIONS)

    # -- ask and tell --------------------------------------------------------------------------------

    def test_a_trial_is_asked_for_told_and_written_down(self, study: StudyProtocol) -> None:
        trial = study.ask(metadata={"shift": "late"})
        assert (trial.number, trial.status, trial.metadata) == (1, "pending", {"shift": "late"})
        BOX.encode(trial.x)
        event = study.tell(trial, 0.7, metadata={"by": "hand"})
        assert isinstance(event, Event)
        assert (event.step, event.y, event.reset) == (1, 0.7, False)
        asked, told = study.events()
        assert (asked.seq, asked.kind, asked.trial, asked.x) == (1, "asked", 1, trial.x)
        assert (told.seq, told.kind, told.trial, told.y) == (2, "told", 1, 0.7)
        assert (dict(asked.metadata), dict(told.metadata)) == ({"shift": "late"}, {"by": "hand"})

    def test_it_asks_and_believes_what_an_optimiser_does(self, study: StudyProtocol) -> None:
        twin = make(OPTIONS["algorithm"], BOX, **{k: v for k, v in OPTIONS.items() if k != "algorithm"})
        for step in range(6):
            trial, x = study.ask(), twin.ask()
            assert list(trial.x) == list(x)
            said, expected = study.tell(trial, math.sin(step)), twin.tell(x, math.sin(step))
            assert (said.mean, said.std, said.statistic) == (expected.mean, expected.std, expected.statistic)
        np.testing.assert_array_equal(study.predict(POINTS), twin.predict(POINTS))
        for time in (None, 40.0):
            ours, theirs = study.best(time), twin.best(time)
            assert (list(ours.x), ours.mean, ours.std) == (list(theirs.x), theirs.mean, theirs.std)

    def test_several_are_out_and_answered_in_any_order(self, study: StudyProtocol) -> None:
        trials: list[Any] = [study.ask(), *study.ask(count=2)]
        assert [trial.number for trial in trials] == [1, 2, 3]
        assert len({tuple(trial.x) for trial in trials}) == 3
        assert study.pending() == trials
        for y, trial in enumerate(reversed(trials)):
            assert study.tell(trial.number, float(y)).step == y + 1
        assert study.summary().pending == 0

    def test_values_that_nobody_asked_for(self, study: StudyProtocol) -> None:
        event = study.add([0.25, 1.0], [0.4, 0.6], std=0.1)
        assert (list(event.x), event.y, list(event.values)) == ([0.25, 1.0], 0.5, [0.4, 0.6])
        (record,) = study.events()
        assert (record.kind, record.trial) == ("told", None)

    def test_times_are_the_callers(self, study: StudyProtocol) -> None:
        study.add([0.5, 0.0], 1.0, 100.0)
        assert study.add([0.5, 0.0], 1.0, 90.0).time == 100.0  # the model's time does not go back
        assert [record.time for record in study.events()] == [100.0, 90.0]

    def test_the_records_of_what_is_told(self, study: StudyProtocol) -> None:
        told, added = study.submit_tell(study.ask(), 0.7, key="a"), study.submit_add([0.5, 0.0], 1.0, std=0.1)
        assert [told, added] == study.events(kinds=["told"])
        assert (told.seq, told.as_event().y, added.trial) == (2, 0.7, None)
        assert study.submit_tell(1, 0.7, key="a") == told

    def test_an_evaluation_that_failed(self, study: StudyProtocol) -> None:
        study.fail(study.ask(), "pump off")
        summary = study.summary()
        assert (summary.failed, summary.pending, summary.tells) == (1, 0, 0)
        assert study.events()[-1].reason == "pump off"
        with pytest.raises(Conflict):
            study.tell(1, 0.5)

    @pytest.mark.parametrize(
        ("space", "context"),
        [
            (Arms(4), None),
            (Space(gain=Real(0.1, 10, log=True), taps=Integer(1, 8), mode=Choice(["a", "b"])), None),
            (Space(gain=Real(0, 1), load=Context(0, 100)), {"load": 37.0}),
        ],
        ids=["arms", "space", "contexts"],
    )
    def test_every_kind_of_space(self, make_study: MakeStudy, space: Any, context: Any) -> None:
        study = make_study("spaces", space, algorithm="random", seed=1)
        assert study.space == space
        trial = study.ask(context=context)
        space.encode(trial.x)
        assert context is None or trial.x["load"] == 37.0
        assert study.tell(trial, 1.0).step == 1

    # -- a hand on the wheel -------------------------------------------------------------------------

    def test_a_reset_that_is_asked_for(self, study: StudyProtocol) -> None:
        study.tell(study.ask(), 0.5)
        event = study.reset("new pump")
        assert event.reset
        assert "new pump" in event.reason
        assert study.summary().resets == 1
        assert [record.kind for record in study.events(resets=True)] == ["reset"]

    def test_values_that_are_taken_back_or_corrected(self, study: StudyProtocol) -> None:
        points = [study.tell(study.ask(), float(i)).x for i in range(4)]
        study.retract(2, "the sensor was off")
        study.correct(3, 9.0)
        twin = make(OPTIONS["algorithm"], BOX, **{k: v for k, v in OPTIONS.items() if k != "algorithm"})
        for step, y in ((1, 0.0), (3, 9.0), (4, 3.0)):
            twin.tell(points[step - 1], y, time=float(step))
        np.testing.assert_array_equal(study.predict(POINTS), twin.predict(POINTS))
        assert [record.kind for record in study.events()][-2:] == ["retracted", "corrected"]

    # -- once and only once --------------------------------------------------------------------------

    def test_the_same_key_again_changes_nothing(self, study: StudyProtocol) -> None:
        trial = study.ask(key="a")
        assert study.ask(key="a").number == trial.number
        assert study.tell(trial, 0.5, key="b") == study.tell(trial, 0.5, key="b")
        assert study.add([0.5, 0.0], 1.0, key="c") == study.add([0.5, 0.0], 1.0, key="c")
        other = study.ask()
        assert study.fail(other, "no", key="d").seq == study.fail(other, "no", key="d").seq
        assert study.reset("new", key="e").reset
        assert study.reset("new", key="e").reset
        assert [record.kind for record in study.events()] == [
            "asked",
            "told",
            "told",
            "asked",
            "failed",
            "reset",
        ]

    def test_a_key_stands_for_one_request(self, study: StudyProtocol) -> None:
        study.tell(study.ask(), 0.5, key="a")
        trial = study.ask()
        for again in (
            lambda: study.tell(trial, 0.5, key="a"),
            lambda: study.ask(key="a"),
            lambda: study.reset("new", key="a"),
        ):
            self.refused(study, Conflict, again)

    def test_what_is_wrong_changes_nothing(self, study: StudyProtocol) -> None:
        trial = study.ask()
        study.tell(trial, 0.5)
        out = study.ask()
        for error, call in (
            (Conflict, lambda: study.tell(trial, 0.5)),
            (Conflict, lambda: study.fail(trial)),
            (UnknownName, lambda: study.tell(99, 0.5)),
            (UnknownName, lambda: study.fail(99)),
            (InvalidArgument, lambda: study.tell(out, math.nan)),
            (InvalidArgument, lambda: study.add([0.5, 99.0], 1.0)),
            (WindvaneError, lambda: study.add([0.5], 1.0)),
            (WindvaneError, lambda: study.ask(count=0)),
            (WindvaneError, lambda: study.retract(out)),
            (WindvaneError, lambda: study.tell(out, 0.5, heat=3.0)),
        ):
            self.refused(study, error, call)

    @staticmethod
    def refused(study: StudyProtocol, error: type[Exception], call: Callable[[], Any]) -> None:
        """An error with a message, after which everything is as it was."""
        before, belief = study.summary(), study.predict(POINTS)
        with pytest.raises(error) as caught:
            call()
        assert str(caught.value)
        assert study.summary() == before
        np.testing.assert_array_equal(study.predict(POINTS), belief)

    # -- reading -------------------------------------------------------------------------------------

    def test_the_journal_in_parts(self, study: StudyProtocol) -> None:
        for i in range(5):
            study.tell(study.ask(), float(i))
        study.reset()
        every = study.events()
        assert [record.seq for record in every] == list(range(1, 12))
        assert study.events(8) == every[8:]
        assert study.events(2, 3) == every[2:5]
        assert study.events(kinds=["told"]) == [record for record in every if record.kind == "told"]
        assert study.events(newest=True, limit=2) == every[-2:]

    def test_at_a_glance(self, study: StudyProtocol) -> None:
        study.tell(study.ask(), 1.0)
        study.fail(study.ask())
        study.ask()
        found = study.summary()
        counts = (found.trials, found.tells, found.failed, found.pending, found.size, found.head)
        assert counts == (3, 1, 1, 1, 1, 5)
        assert (found.name, found.algorithm, found.goal) == ("suite", "et-gp-ucb", "maximize")

    def test_an_export_has_every_record(self, study: StudyProtocol, tmp_path: Path) -> None:
        for i in range(3):
            study.tell(study.ask(), i / 7)
        assert study.export(tmp_path / "log.jsonl") in (6, None)
        lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
        assert [(line["seq"], line["kind"], line["y"]) for line in lines] == [
            (record.seq, record.kind, record.y) for record in study.events()
        ]

    def test_it_explains_itself(self, study: StudyProtocol) -> None:
        study.tell(study.ask(), 1.0)
        found = study.explain()
        assert str(found) == found.text == found.as_dict()["text"]

    def test_a_study_that_was_deleted_is_gone(self, study: StudyProtocol) -> None:
        study.ask()
        study.delete()
        for call in (study.ask, study.summary, study.events):
            with pytest.raises(UnknownName):
                call()
