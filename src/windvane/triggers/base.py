"""What a trigger is, and what all of them share.

Symbols: psi_t is the statistic and kappa_t the threshold of Definition 2; t_r is `elapsed`, the steps
since the last start or reset, 1 at the first of them; pi_t = pi^2 t^2 / 6 spreads delta over all steps.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol, TypeAlias, runtime_checkable

from windvane.checks import real
from windvane.data import Prediction, Verdict
from windvane.digits import number
from windvane.errors import CorruptState

Memory: TypeAlias = tuple[float, ...]
"""What a trigger carries from step to step: finite numbers, so that it is JSON; `()` if nothing.

It may be shorter at the start than after an observation; from then on its length stays the same.
"""


@runtime_checkable
class Trigger(Protocol):
    """Decides whether an observation contradicts the model (Definition 2).

    The trigger itself never changes: what evolves is the memory, handed in and handed back. `y` is
    to be maximised. `windvane.triggers.conformance` checks an implementation. A trigger with the class
    attribute `reads_opinion = True` is given, as the keyword `opinion`, what the surrogate makes of `y`;
    where there is no surrogate it is left out.
    """

    def start(self) -> Memory:
        """The memory after a start or a reset."""
        ...

    def test(self, memory: Memory, prediction: Prediction, y: float, elapsed: int) -> tuple[Verdict, Memory]:
        """The verdict on `y`, predicted before it was seen, and the memory for the next step.

        Fired, or suspect, if and only if statistic > threshold; only then is there a reason. After a
        suspicion that is followed up the model has not been told the observation, and the next call is
        about a second look: usually at the same point, but the caller is free to tell another.
        """
        ...


def replay(trigger: Trigger, stream: Iterable[tuple[Prediction, float]]) -> list[Verdict]:
    """The verdicts on a stream of predictions and observations, from one start and without resets."""
    memory = trigger.start()
    verdicts = []
    for elapsed, (prediction, y) in enumerate(stream, start=1):
        verdict, memory = trigger.test(memory, prediction, y, elapsed)
        verdicts.append(verdict)
    return verdicts


def memory_from_json(trigger: Trigger, given: Any) -> Memory:
    """A memory as a state has it, if the trigger can have written it.

    >>> from windvane.triggers import NoImprovement
    >>> memory_from_json(NoImprovement(5), [0.5, 2]), memory_from_json(NoImprovement(5), [])
    ((0.5, 2), ())
    """
    memory = tuple(given)
    for entry in memory:
        real("state(memory)", entry)
    if len(memory) != len(trigger.start()):
        _, after = trigger.test(trigger.start(), Prediction(0.0, 1.0, 1.0), 0.0, 1)
        if len(memory) != len(after):
            raise CorruptState(f"state(memory): has {len(memory)} numbers; {trigger!r} has {len(after)}")
    return memory


def exceeds(statistic: float, threshold: float) -> str:
    """`statistic > threshold` in as few digits as tell the two apart.

    >>> exceeds(1.2345, 0.98), exceeds(1.00001, 1.0), exceeds(175512.3, 98000.0)
    ('1.23 > 0.98', '1.00001 > 1', '175512 > 98000')
    """
    for digits in (3, 6, 9):
        left, right = number(statistic, digits), number(threshold, digits)
        if left != right:
            return f"{left} > {right}"
    return f"{statistic!r} > {threshold!r}"


def since(elapsed: int) -> str:
    """How long the trigger has been watching, in words.

    >>> since(12)
    '12 steps after the last reset or start'
    """
    return f"{elapsed} {'step' if elapsed == 1 else 'steps'} after the last reset or start"
