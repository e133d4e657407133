"""The checks that every trigger passes, for yours as well: `check(MyTrigger())`.

With pytest: `@pytest.mark.parametrize("name", CHECKS)` and `CHECKS[name](MyTrigger())`. Each check
raises an `AssertionError` that says what was expected.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Any, NamedTuple

from windvane import codec
from windvane.data import Prediction, Verdict
from windvane.errors import WindvaneError
from windvane.triggers.base import Memory, Trigger


class Step(NamedTuple):
    """One call of `test`, but for the memory."""

    prediction: Prediction
    y: float
    elapsed: int


def _stream() -> list[Step]:
    """Observations as predicted, then far too low, then far too high, then as predicted again."""
    random = Random(0)
    steps = []
    for elapsed in range(1, 101):
        model = Prediction(random.gauss(0.0, 1.0), random.uniform(0.1, 1.0), 0.01)
        jump = -30.0 if 30 < elapsed <= 55 else 30.0 if 55 < elapsed <= 80 else 0.0
        steps.append(Step(model, random.gauss(model.mean, math.hypot(model.std, 0.1)) + jump, elapsed))
    return steps


STREAM = _stream()
LATE = [Step(Prediction(0.0, 0.5, 0.01), y, 10**power) for power in range(10) for y in (0.1, -30.0, 30.0)]
CERTAIN = [
    Step(Prediction(1.0, 0.0, noise), y, elapsed)
    for elapsed, (noise, y) in enumerate([(0.01, 1.0), (0.01, 9.0), (0.0, 1.0), (0.0, 9.0)], start=1)
]


def _require(condition: bool, message: str) -> None:
    if not condition:  # not `assert`, which python -O removes
        raise AssertionError(message)


def _test(trigger: Trigger, memory: Sequence[float], step: Step) -> tuple[Verdict, Memory]:
    try:
        answer: Any = trigger.test(memory, *step)  # type: ignore[arg-type]  # a list, as JSON gives it back
    except Exception as error:
        raise AssertionError(f"test(memory={memory!r}, {step}) raised {error!r}") from error
    _require(
        isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], Verdict),
        f"test(memory={memory!r}, {step}) must return (Verdict, memory), got {answer!r}",
    )
    return answer[0], answer[1]


def _run(trigger: Trigger, steps: Sequence[Step]) -> list[tuple[Sequence[float], Verdict]]:
    """Each step's memory before it and verdict."""
    memory: Sequence[float] = trigger.start()
    record = []
    for step in steps:
        verdict, after = _test(trigger, memory, step)
        record.append((memory, verdict))
        memory = after
    return record


def _require_numbers(verdict: Verdict, step: Step) -> None:
    for name in ("statistic", "threshold"):
        value = getattr(verdict, name)
        _require(isinstance(value, float), f"{name}={value!r} must be a float, at {step}")
        _require(not math.isnan(value), f"{name} must not be NaN, at {step}")


def _alarmed(verdict: Verdict) -> bool:
    return verdict.fired or verdict.suspect


def _fields(trigger: Any) -> dict[str, Any]:
    if dataclasses.is_dataclass(trigger):
        return {field.name: deepcopy(getattr(trigger, field.name)) for field in dataclasses.fields(trigger)}
    return dict(deepcopy(vars(trigger)))


def unchanged_by_use(trigger: Trigger) -> None:
    """What evolves is the memory; the trigger's own fields are the same before and after."""
    before = _fields(trigger)
    _run(trigger, STREAM)
    _require(_fields(trigger) == before, f"use changed the trigger from {before} to {_fields(trigger)}")


def memory_is_plain_json(trigger: Trigger) -> None:
    """From `start` on the memory is a tuple of finite numbers, equal after a round trip through JSON."""
    _require(trigger.start() == trigger.start(), "start() must always give the same memory")
    for memory, _ in _run(trigger, STREAM):
        _require(isinstance(memory, tuple), f"the memory must be a tuple, got {memory!r}")
        plain = all(type(item) in (int, float) and math.isfinite(item) for item in memory)
        _require(plain, f"the memory must be finite ints and floats, got {memory!r}")
        _require(tuple(json.loads(json.dumps(memory))) == memory, f"the memory must survive JSON: {memory!r}")


def memory_keeps_its_length(trigger: Trigger) -> None:
    """From the first observation on: by its length a state tells a memory from one that was altered."""
    lengths = {len(memory) for memory, _ in _run(trigger, STREAM)} - {len(trigger.start())}
    _require(len(lengths) <= 1, f"the memory must keep one length after the start, got {sorted(lengths)}")


def same_call_same_answer(trigger: Trigger) -> None:
    """The same arguments give the same verdict, in any order of calls."""
    record = list(zip(STREAM, _run(trigger, STREAM), strict=True))
    for step, (memory, verdict) in reversed(record):
        again, _ = _test(trigger, memory, step)
        _require(again == verdict, f"the same call gave {verdict} and then {again}, at {step}")


def memory_is_left_alone(trigger: Trigger) -> None:
    """`test` returns a new memory and does not write into the one it was handed."""
    for step, (memory, _) in zip(STREAM, _run(trigger, STREAM), strict=True):
        before, handed = list(memory), list(memory)
        _test(trigger, handed, step)
        _require(handed == before, f"test changed its argument from {before} to {handed}, at {step}")


def fired_iff_above(trigger: Trigger) -> None:
    """Definition 2: fired if and only if the statistic is above the threshold; or suspect, but never both."""
    for step, (_, verdict) in zip(STREAM, _run(trigger, STREAM), strict=True):
        for name in ("fired", "suspect"):
            value = getattr(verdict, name)
            _require(isinstance(value, bool), f"{name}={value!r} must be a bool, at {step}")
        above = verdict.statistic > verdict.threshold
        _require(not (verdict.fired and verdict.suspect), f"{verdict} is both fired and suspect, at {step}")
        name = "suspect" if verdict.suspect else "fired"
        _require(_alarmed(verdict) == above, f"{name} must be {above} for {verdict}, at {step}")


def numbers_are_floats(trigger: Trigger) -> None:
    """Statistic and threshold are floats and not NaN; an infinite threshold is one that nothing exceeds."""
    for step, (_, verdict) in zip(STREAM, _run(trigger, STREAM), strict=True):
        _require_numbers(verdict, step)


def reason_iff_fired(trigger: Trigger) -> None:
    """A verdict that fired, or is suspect, says why; any other says nothing."""
    for step, (_, verdict) in zip(STREAM, _run(trigger, STREAM), strict=True):
        _require(isinstance(verdict.reason, str), f"reason={verdict.reason!r} must be a string, at {step}")
        alarmed = _alarmed(verdict)
        wanted = "a reason" if alarmed else "no reason"
        _require(bool(verdict.reason.strip()) == alarmed, f"{verdict} must have {wanted}, at {step}")


def survives_the_codec(trigger: Trigger) -> None:
    """A state can name the trigger: encoded to JSON and decoded, it is an equal one."""
    try:
        decoded = codec.decode(json.loads(json.dumps(codec.encode(trigger), allow_nan=False)))
    except (WindvaneError, TypeError, ValueError) as error:
        raise AssertionError(f"{trigger!r} cannot be written as JSON and read again: {error}") from error
    _require(decoded == trigger, f"after a round trip {trigger!r} became {decoded!r}")


def replays_from_json(trigger: Trigger) -> None:
    """Restored from JSON at any step, as a list or a tuple, it goes on with the same verdicts."""
    memory: Sequence[float] = trigger.start()
    for step, (_, verdict) in zip(STREAM, _run(trigger, STREAM), strict=True):
        restored: list[float] = json.loads(json.dumps(memory))
        again, memory = _test(trigger, restored if step.elapsed % 2 else tuple(restored), step)
        _require(again == verdict, f"with the memory from JSON {verdict} became {again}, at {step}")


def any_elapsed(trigger: Trigger) -> None:
    """It can wait for 10^9 steps."""
    for step, (_, verdict) in zip(LATE, _run(trigger, LATE), strict=True):
        _require_numbers(verdict, step)


def certain_prediction(trigger: Trigger) -> None:
    """A standard deviation of zero, even without noise, is no division by zero."""
    for step, (_, verdict) in zip(CERTAIN, _run(trigger, CERTAIN), strict=True):
        _require_numbers(verdict, step)


CHECKS: dict[str, Callable[[Trigger], None]] = {
    run.__name__: run
    for run in (
        unchanged_by_use,
        memory_is_plain_json,
        memory_keeps_its_length,
        same_call_same_answer,
        memory_is_left_alone,
        fired_iff_above,
        numbers_are_floats,
        reason_iff_fired,
        survives_the_codec,
        replays_from_json,
        any_elapsed,
        certain_prediction,
    )
}


def check(trigger: Trigger) -> None:
    """Run every check and raise one `AssertionError` with all that failed.

    >>> from windvane.triggers import PosteriorBound
    >>> check(PosteriorBound(delta=0.05))
    """
    failures = []
    for name, run in CHECKS.items():
        try:
            run(trigger)
        except Exception as error:
            failures.append(f"- {name}: {error}")
    if failures:
        count = f"{len(failures)} of {len(CHECKS)} checks"
        raise AssertionError("\n".join([f"{trigger!r} fails {count}", *failures]))
