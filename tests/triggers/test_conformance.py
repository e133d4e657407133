"""Every trigger passes the suite, and every check of the suite can fail."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest

from windvane.codec import component
from windvane.data import Verdict
from windvane.testing import TriggerSuite
from windvane.triggers import (
    BoundedNoise,
    Confirmed,
    EDetector,
    ExactBound,
    Likelihood,
    Never,
    NoImprovement,
    Periodic,
    PosteriorBound,
    Trigger,
)
from windvane.triggers.conformance import CHECKS, STREAM, check

TRIGGERS = [
    Never(),
    Periodic(1),
    Periodic(50),
    PosteriorBound(),
    PosteriorBound(delta=0.01, noise_cap=0.2),
    BoundedNoise(0.3),
    BoundedNoise(0.0, delta=0.5),
    NoImprovement(1),
    NoImprovement(4, tolerance=1e-3),
    Likelihood(),
    Likelihood(delta=0.9),
    ExactBound(),
    ExactBound(delta=0.9),
    EDetector(),
    EDetector(delta=0.01, spreads=()),
    EDetector(run_length=1000, shifts=(1.0,)),
    Confirmed(PosteriorBound()),
    Confirmed(EDetector(), level=0.2),
    Confirmed(NoImprovement(3), cooldown=20),
    Confirmed(Likelihood(), cooldown=5, min_samples=10),
]


class TestEveryTrigger(TriggerSuite):
    triggers = TRIGGERS


def test_a_suite_without_triggers_is_a_mistake():
    with pytest.raises(TypeError, match="must be a list of at least one trigger"):
        type("Empty", (TriggerSuite,), {})


@pytest.mark.parametrize("trigger", [each for each in TRIGGERS if each != Never()], ids=repr)
def test_the_stream_makes_every_trigger_fire_and_stay_silent(trigger):
    memory, answers = trigger.start(), set()
    for step in STREAM:
        verdict, memory = trigger.test(memory, *step)
        answers.add(verdict.fired)
    assert True in answers
    assert (False in answers) == (trigger not in (Periodic(1),))


@component
@dataclass(frozen=True)
class Sound:
    """The smallest trigger that conforms; each broken one below differs in one respect."""

    def start(self):
        return ()

    def test(self, memory, prediction, y, elapsed):
        statistic = abs(y - prediction.mean)
        return self.answer(statistic, elapsed), ()

    def answer(self, statistic, elapsed):
        return Verdict(statistic > 5.0, statistic, 5.0, "far off" if statistic > 5.0 else "")


@component
@dataclass(frozen=True)
class CountsItsCalls(Sound):
    calls: int = 0

    def test(self, memory, prediction, y, elapsed):
        object.__setattr__(self, "calls", self.calls + 1)
        return super().test(memory, prediction, y, elapsed)


@component
@dataclass(frozen=True)
class StartsAtInfinity(Sound):
    def start(self):
        return (-math.inf, 0)


@component
@dataclass(frozen=True)
class RemembersAList(Sound):
    def start(self):
        return [0.0]


@component
@dataclass(frozen=True)
class StartsSomewhere(Sound):
    hidden: list = field(default_factory=lambda: [0.0], init=False, compare=False)

    def start(self):
        self.hidden[0] += 1.0
        return (self.hidden[0],)


@component
@dataclass(frozen=True)
class KeepsItsOwnBest(Sound):
    hidden: list = field(default_factory=list, init=False, compare=False)

    def test(self, memory, prediction, y, elapsed):
        self.hidden.append(y)
        return self.answer(max(self.hidden) - y, elapsed), ()


@component
@dataclass(frozen=True)
class CountsInPlace(Sound):
    def start(self):
        return (0,)

    def test(self, memory, prediction, y, elapsed):
        verdict, _ = super().test(memory, prediction, y, elapsed)
        if isinstance(memory, list):
            memory[0] += 1
        return verdict, (memory[0] + 1,)


@component
@dataclass(frozen=True)
class FiresAtTheThreshold(Sound):
    def answer(self, statistic, elapsed):
        return Verdict(True, statistic, max(5.0, statistic), "at least 5")


@component
@dataclass(frozen=True)
class FiresANumber(Sound):
    def answer(self, statistic, elapsed):
        return super().answer(statistic, elapsed)._replace(fired=int(statistic > 5.0))


@component
@dataclass(frozen=True)
class CountsWholeSteps(Sound):
    def answer(self, statistic, elapsed):
        return Verdict(elapsed > 5, elapsed, 5, "six steps" if elapsed > 5 else "")


@component
@dataclass(frozen=True)
class NotANumber(Sound):
    def answer(self, statistic, elapsed):
        return Verdict(False, math.nan, 5.0)


@component
@dataclass(frozen=True)
class FiresWithoutAWord(Sound):
    def answer(self, statistic, elapsed):
        return super().answer(statistic, elapsed)._replace(reason=" ")


@component
@dataclass(frozen=True)
class TalksAllTheTime(Sound):
    def answer(self, statistic, elapsed):
        return super().answer(statistic, elapsed)._replace(reason="nothing to see")


@component
@dataclass(frozen=True)
class FiresAndDoubts(Sound):
    def answer(self, statistic, elapsed):
        verdict = super().answer(statistic, elapsed)
        return verdict._replace(suspect=verdict.fired)


@component
@dataclass(frozen=True)
class SuspectsEverything(Sound):
    def answer(self, statistic, elapsed):
        verdict = super().answer(statistic, elapsed)
        return verdict._replace(suspect=not verdict.fired, reason="one never knows")


@component
@dataclass(frozen=True)
class SuspectsANumber(Sound):
    def answer(self, statistic, elapsed):
        return super().answer(statistic, elapsed)._replace(suspect=0)


@component
@dataclass(frozen=True)
class SuspectsWithoutAWord(Sound):
    def answer(self, statistic, elapsed):
        verdict = super().answer(statistic, elapsed)
        return verdict._replace(fired=False, suspect=verdict.fired, reason="")


@dataclass(frozen=True)
class Unregistered(Sound):
    pass


@component
@dataclass(frozen=True)
class LosesAField(Sound):
    limit: float = field(default=5.0, init=False)

    def __post_init__(self):
        object.__setattr__(self, "limit", object())


@component
@dataclass(frozen=True)
class WantsATuple(Sound):
    def start(self):
        return (0.0,)

    def test(self, memory, prediction, y, elapsed):
        verdict, _ = super().test(memory, prediction, y, elapsed)
        known = {(0.0,): 5.0}.get(memory if isinstance(memory, tuple) else None, 6.0)
        return verdict._replace(threshold=known, fired=False, statistic=0.0, reason=""), (0.0,)


@component
@dataclass(frozen=True)
class Overflows(Sound):
    def answer(self, statistic, elapsed):
        return Verdict(False, statistic, math.exp(elapsed))


@component
@dataclass(frozen=True)
class DividesByTheSpread(Sound):
    def test(self, memory, prediction, y, elapsed):
        return self.answer(abs(y - prediction.mean) / prediction.std, elapsed), ()


@component
@dataclass(frozen=True)
class RemembersEverything(Sound):
    def test(self, memory, prediction, y, elapsed):
        verdict, _ = super().test(memory, prediction, y, elapsed)
        return verdict, (*memory, y)


@component
@dataclass(frozen=True)
class ForgetsTheMemory(Sound):
    def test(self, memory, prediction, y, elapsed):
        return super().test(memory, prediction, y, elapsed)[0]


BROKEN = [
    ("unchanged_by_use", CountsItsCalls(), "use changed the trigger from {'calls': 0} to {'calls': 100}"),
    ("memory_is_plain_json", StartsAtInfinity(), "finite ints and floats, got (-inf, 0)"),
    ("memory_is_plain_json", RemembersAList(), "must be a tuple, got [0.0]"),
    ("memory_is_plain_json", StartsSomewhere(), "start() must always give the same memory"),
    ("memory_keeps_its_length", RemembersEverything(), "must keep one length after the start, got [1, 2, 3"),
    ("same_call_same_answer", KeepsItsOwnBest(), "the same call gave"),
    ("memory_is_left_alone", CountsInPlace(), "test changed its argument from [0] to [1]"),
    ("fired_iff_above", FiresAtTheThreshold(), "fired must be False"),
    ("fired_iff_above", FiresANumber(), "fired=0 must be a bool"),
    ("fired_iff_above", FiresAndDoubts(), "is both fired and suspect"),
    ("fired_iff_above", SuspectsEverything(), "suspect must be False"),
    ("fired_iff_above", SuspectsANumber(), "suspect=0 must be a bool"),
    ("numbers_are_floats", CountsWholeSteps(), "statistic=1 must be a float"),
    ("numbers_are_floats", NotANumber(), "statistic must not be NaN"),
    ("reason_iff_fired", FiresWithoutAWord(), "must have a reason"),
    ("reason_iff_fired", SuspectsWithoutAWord(), "must have a reason"),
    ("reason_iff_fired", TalksAllTheTime(), "must have no reason"),
    ("survives_the_codec", Unregistered(), "cannot be written as JSON"),
    ("survives_the_codec", LosesAField(), "after a round trip"),
    ("replays_from_json", WantsATuple(), "with the memory from JSON"),
    ("any_elapsed", Overflows(), "raised OverflowError"),
    ("certain_prediction", DividesByTheSpread(), "raised ZeroDivisionError"),
    ("any_elapsed", ForgetsTheMemory(), "must return (Verdict, memory)"),
]


def test_the_pattern_for_the_broken_triggers_is_sound():
    check(Sound())


@pytest.mark.parametrize(("name", "broken", "message"), BROKEN, ids=lambda value: type(value).__name__)
def test_each_check_finds_what_is_broken(name, broken, message):
    with pytest.raises(AssertionError) as failure:
        CHECKS[name](broken)
    assert message in str(failure.value)


def test_a_broken_trigger_is_known_for_each_check():
    assert {name for name, _, _ in BROKEN} == set(CHECKS)


def test_check_reports_all_failures_at_once():
    with pytest.raises(AssertionError) as failure:
        check(Overflows())
    report = str(failure.value)
    assert report.startswith("Overflows() fails ")
    assert "- any_elapsed: test(" in report
    assert "- reason_iff_fired" not in report  # it never fires, so it never owes a reason


def test_a_trigger_with_other_methods_is_not_one():
    assert isinstance(Sound(), Trigger)
    assert not isinstance(object(), Trigger)
