"""Random interleavings of everything that can happen to a study, beside a model of it in memory.

Hypothesis chooses what happens next and, when something is wrong, finds the shortest story that shows it. The
model is a journal as a list, and an optimiser that is told the same; what the study says must agree with
both.
Subclass `StudyMachine`, say how a study is made and how it is found again after a crash, and run
`run_state_machine_as_test(Machine)`, or `Machine.TestCase` with pytest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from windvane.algorithms import make
from windvane.errors import Conflict, InvalidArgument, UnknownName
from windvane.kernels import RBF
from windvane.spaces import Box

SPACE = Box([(0.0, 1.0)])
POINTS = [[0.05], [0.35], [0.65], [0.95]]
PATIENCE = 100.0  # seconds until a trial expires
VALUES = st.floats(-5.0, 5.0).map(lambda y: round(y, 3) + 0.0)


@dataclass
class Tell:
    """A record of the model's journal that the optimiser heard of: a value, a failure, or a reset."""

    kind: str
    x: Any = None
    y: float | None = None
    time: float | None = None
    reason: str = ""


@dataclass
class StudyModel:
    """What a study should amount to."""

    kinds: list[str] = field(default_factory=list)  # of all records, but those that say that a trial expired
    heard: dict[int, Tell] = field(default_factory=dict)  # by the number of the record
    out: dict[int, float] = field(default_factory=dict)  # trials that nobody answered, and when they expire
    told: dict[int, int] = field(default_factory=dict)  # trials that were answered, and the record of it
    closed: set[int] = field(default_factory=set)  # trials that failed, or whose value was taken back
    points: dict[int, Any] = field(default_factory=dict)  # of all trials
    keys: dict[str, Callable[[], Any]] = field(default_factory=dict)  # requests that may be repeated
    amended: set[int] = field(default_factory=set)  # trials whose value was corrected


class StudyMachine(RuleBasedStateMachine):
    """Ask, tell, fail, expire, retract, correct, reset and crash in any order.

    A subclass gives `create(options)`, which makes an empty study whose clock is `self.clock`, and
    `reopen(study)`, which finds it again as another process would, without anything from memory.
    """

    algorithm: ClassVar[str] = "et-gp-ucb"
    options: ClassVar[dict[str, Any]] = {"kernel": RBF(0.3), "noise_variance": 0.05, "seed": 4}

    def __init__(self) -> None:
        super().__init__()
        self.now = 1_000_000.0
        self.model = StudyModel()
        self.study: Any = None
        self._abandoned: list[Any] = []

    def create(self, **options: Any) -> Any:
        """An empty study of `SPACE`."""
        raise NotImplementedError

    def reopen(self, study: Any) -> Any:
        """The same study, after a crash of whoever had it open."""
        raise NotImplementedError

    def clock(self) -> float:
        """The time, which passes when the machine says so."""
        return self.now

    @initialize()
    def begin(self) -> None:
        """A new study."""
        self.study = self.create(algorithm=self.algorithm, expires_after=PATIENCE, **self.options)

    # -- what happens --------------------------------------------------------------------------------

    @rule(again=st.booleans())
    def ask(self, again: bool) -> None:
        """A trial begins; with a key, the same request again gives the same one."""
        key = f"key {len(self.model.keys)}" if again else None
        trial = self.study.ask(key=key)
        assert trial.number == len(self.model.points) + 1
        SPACE.encode(trial.x)
        self.model.points[trial.number] = trial.x
        self.model.out[trial.number] = self.now + PATIENCE
        self.model.kinds.append("asked")
        if key is not None:
            number, x = trial.number, trial.x
            self.model.keys[key] = lambda: self._same(self.study.ask(key=key), number, x)

    @staticmethod
    def _same(trial: Any, number: int, x: Any) -> None:
        assert (trial.number, trial.x) == (number, x)

    @precondition(lambda self: self.model.out)
    @rule(data=st.data(), y=VALUES, again=st.booleans())
    def tell(self, data: st.DataObject, y: float, again: bool) -> None:
        """A trial is answered, in time or late."""
        trial = data.draw(st.sampled_from(sorted(self.model.out)))
        key = f"key {len(self.model.keys)}" if again else None
        event = self.study.tell(trial, y, key=key)
        assert (event.y, list(event.x)) == (y, list(self.model.points[trial]))
        del self.model.out[trial]
        self.model.told[trial] = self._heard(Tell("told", self.model.points[trial], y, event.time))
        if key is not None:
            self.model.keys[key] = lambda: self._equal(self.study.tell(trial, y, key=key), event)

    @staticmethod
    def _equal(found: Any, wanted: Any) -> None:
        assert found == wanted

    @rule(x=st.floats(0.0, 1.0), y=VALUES)
    def add(self, x: float, y: float) -> None:
        """A value that nobody asked for."""
        event = self.study.add([x], y)
        self._heard(Tell("told", [x], y, event.time))

    @precondition(lambda self: self.model.out)
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        """A trial comes to nothing."""
        trial = data.draw(st.sampled_from(sorted(self.model.out)))
        self.study.fail(trial, "pump off")
        del self.model.out[trial]
        self.model.closed.add(trial)
        self._heard(Tell("failed", self.model.points[trial], reason="pump off"))

    @rule()
    def reset(self) -> None:
        """Somebody knows that the system has changed."""
        self.study.reset("new pump")
        self._heard(Tell("reset", reason="new pump"))

    @precondition(lambda self: self.model.told)
    @rule(data=st.data(), y=st.none() | VALUES)
    def amend(self, data: st.DataObject, y: float | None) -> None:
        """A value is taken back, or another one is right."""
        trial = data.draw(st.sampled_from(sorted(self.model.told)))
        tell = self.model.heard[self.model.told[trial]]
        if y is None:
            self.study.retract(trial, "wrong")
            tell.y = None
            self.model.closed.add(trial)
            del self.model.told[trial]
            self.model.kinds.append("retracted")
        else:
            self.study.correct(trial, y)
            tell.y = y
            self.model.amended.add(trial)
            self.model.kinds.append("corrected")

    @rule(seconds=st.sampled_from([1.0, PATIENCE / 2, PATIENCE + 1.0]))
    def wait(self, seconds: float) -> None:
        """Time passes, and trials expire."""
        self.now += seconds

    @rule()
    def crash(self) -> None:
        """Whoever had the study open is gone; nothing that was acknowledged may be."""
        self._abandoned.append(self.study)
        self.study = self.reopen(self.study)

    @precondition(lambda self: self.model.keys)
    @rule(data=st.data())
    def repeat(self, data: st.DataObject) -> None:
        """A request that was carried out is sent once more, with its key."""
        self.model.keys[data.draw(st.sampled_from(sorted(self.model.keys)))]()

    @rule(y=VALUES)
    def mistakes(self, y: float) -> None:
        """What is refused, whatever has happened before."""
        unknown = len(self.model.points) + 1
        wrong: list[tuple[type[Exception], Callable[[], Any]]] = [
            (UnknownName, lambda: self.study.tell(unknown, y)),
            (InvalidArgument, lambda: self.study.add([2.0], y)),
        ]
        done = next(iter({*self.model.told, *self.model.closed}), None)
        if done is not None:
            wrong.append((Conflict, lambda: self.study.tell(done, y)))
            wrong.append((Conflict, lambda: self.study.fail(done)))
        for error, call in wrong:
            with pytest.raises(error):
                call()

    def _heard(self, tell: Tell) -> int:
        self.model.kinds.append(tell.kind)
        number = len(self.model.kinds)
        self.model.heard[number] = tell
        return number

    # -- what must hold ------------------------------------------------------------------------------

    @invariant()
    def counts_and_journal_agree(self) -> None:
        """Everything that was acknowledged is there, once, and nothing else."""
        if self.study is None:
            return
        records, summary, model = self.study.events(), self.study.summary(), self.model
        assert [record.seq for record in records] == list(range(1, len(records) + 1))
        assert [record.kind for record in records if record.kind != "expired"] == model.kinds
        expired = [record.trial for record in records if record.kind == "expired"]
        assert len(expired) == len(set(expired))
        assert not [trial for trial in expired if model.out.get(trial, 0.0) > self.now]
        assert summary.head == len(records)
        assert summary.trials == len(model.points)
        assert summary.tells == model.kinds.count("told")
        assert summary.failed == model.kinds.count("failed")

    @invariant()
    def it_believes_what_an_optimiser_does(self) -> None:
        """That was told the values as they count now, at the times at which they were told."""
        if self.study is None:
            return
        twin = make(self.algorithm, SPACE, **self.options)
        for tell in self.model.heard.values():
            if tell.kind == "reset":
                twin.reset(tell.reason)
            elif tell.kind == "failed":
                twin.fail(tell.x, reason=tell.reason)
            elif tell.y is not None:
                twin.tell(tell.x, tell.y, time=tell.time)
        np.testing.assert_array_equal(self.study.predict(POINTS), twin.predict(POINTS))

    def teardown(self) -> None:
        """Let go of the study."""
        for study in (self.study, *self._abandoned):
            if study is not None:
                study.close()
