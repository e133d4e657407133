"""The trigger of a surrogate that weighs sudden changes itself: fire when one is believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from windvane import checks
from windvane.codec import component
from windvane.data import Change, Opinion, Prediction, Verdict
from windvane.digits import number
from windvane.hypothesis_names import is_change
from windvane.moments import NamedSteps, Sentence, in_words
from windvane.triggers.base import Memory

DROPPED = 2.0  # how much more probable "all is new" must be than "the level moved": docs/decisions/0029


@component
@dataclass(frozen=True)
class BelievedChange:
    """Fires if the surrogate holds sudden changes possible that together have more than `believed`.

    The latest one counts for which "then or later" is believed: what was before it is stale under every
    one of them. `Verdict.since` is its step, and `Verdict.change` what is believed to have happened: all is
    new, if that is twice as probable, or only the level has moved. It fires as well if it is believed that a
    regime is back that was there before the last change. For surrogates that weigh changes, as that of `auto`
    does.

    >>> beliefs = {"drifts 3 % per step": 0.04, "changed at step 7": 0.75}
    >>> opinion = Opinion(0.0, changes=(Change(3, 0.2), Change(7, 0.75)), beliefs=beliefs)
    >>> verdict, _ = BelievedChange(0.9).test((), Prediction(0.0, 1.0, 0.1), 3.0, 8, opinion)
    >>> verdict.fired, verdict.since
    (True, 3)
    >>> verdict, _ = BelievedChange(0.7).test((), Prediction(0.0, 1.0, 0.1), 3.0, 8, opinion)
    >>> verdict.since, verdict.reason
    (7, 'a sudden change at step 7 is believed with probability 0.95, against 0.04 for the next best
    explanation (drifts 3 % per step)')
    """

    believed: float = 0.95
    reads_opinion: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "believed", checks.probability("believed", self.believed))

    def start(self) -> Memory:
        """Nothing to remember: the surrogate does."""
        return ()

    def test(
        self,
        memory: Memory,  # noqa: ARG002
        prediction: Prediction,  # noqa: ARG002
        y: float,  # noqa: ARG002
        elapsed: int,  # noqa: ARG002
        opinion: Opinion | None = None,
    ) -> tuple[Verdict, Memory]:
        """Compare the probability of all sudden changes with what it takes."""
        changes = () if opinion is None else opinion.changes
        sudden = tuple(change for change in changes if change.kind != "return")
        probability = _total(sudden)
        change = self._believed(sudden) if probability > self.believed else None
        if change is None:
            back = _back(tuple(change for change in changes if change.kind == "return"))
            if back is not None and back.probability > self.believed:
                return self._fired(back, back.probability, sentence_about(back, back.probability)), ()
        if opinion is None or change is None:
            return Verdict(False, probability, self.believed), ()
        then = sum(each.probability for each in sudden if each.step == change.step)
        said = sentence_about(change, probability, later=then <= self.believed)
        if change.kind == "level":
            share = _total(tuple(each for each in sudden if each.kind == "level")) / probability
            moved = f"moved by {number(abs(change.level), 3)} while the shape stayed as it was"
            said = (*said, f" ({share:.0%} of that: only the level {moved})")
        return self._fired(change, probability, (*said, _against(opinion))), ()

    def _fired(self, change: Change, probability: float, said: Sentence) -> Verdict:
        why = in_words(said)
        return Verdict(True, probability, self.believed, why, since=change.step, change=change, sentence=said)

    def _believed(self, changes: tuple[Change, ...]) -> Change:
        """What is believed to have happened, given that something is: all is new, or only the level moved."""
        new = tuple(change for change in changes if change.kind == "new")
        moved = tuple(change for change in changes if change.kind == "level")
        if _total(new) > DROPPED * _total(moved):
            return self._latest(new, self.believed * _total(new) / _total(changes))
        return self._latest(moved, self.believed * _total(moved) / _total(changes))

    @staticmethod
    def _latest(changes: tuple[Change, ...], believed: float) -> Change:
        """The latest change such that one then or later is believed."""
        probability = 0.0
        for change in reversed(changes):
            probability += change.probability
            if probability > believed:
                return change
        return changes[0]


def _against(opinion: Opinion) -> str:
    """What else it may be, if not a sudden change, in words."""
    rivals = {name: weight for name, weight in opinion.beliefs.items() if not is_change(name)}
    if not rivals:
        return ""
    name = max(rivals, key=lambda each: rivals[each])
    return f", against {rivals[name]:.2g} for the next best explanation ({name})"


def _total(changes: tuple[Change, ...]) -> float:
    return float(sum(change.probability for change in changes))


def _back(returns: tuple[Change, ...]) -> Change | None:
    """The most probable regime, at the most probable of its levels, with the probability of all of these."""
    totals: dict[tuple[int, int] | None, float] = {}
    for change in returns:
        totals[change.regime] = totals.get(change.regime, 0.0) + change.probability
    if not totals:
        return None
    regime = max(totals, key=lambda each: totals[each])
    best = max((change for change in returns if change.regime == regime), key=lambda each: each.probability)
    return best._replace(probability=totals[regime])


def sentence_about(change: Change, probability: float, *, later: bool = False) -> Sentence:
    """What is believed to have happened, at that step or `later`, and how probable it is.

    >>> in_words(sentence_about(Change(7, 0.2), 0.951))
    'a sudden change at step 7 is believed with probability 0.951'
    """
    away = number(abs(change.level), 3)
    at = NamedSteps(change.step, change.time)
    if change.regime is None:
        level = f", to a level {away} away," if change.level and change.kind == "new" else ""
        since = " or later" if later else ""
        return ("a sudden change at ", at, f"{since}{level} is believed with probability {probability:.3g}")
    level = f", at a level {away} away from that of then" if change.level else ""
    first, last = change.regime
    believed = f"{level}: believed with probability {probability:.3g}"
    return ("the regime of ", NamedSteps(first, last=last), " is back since ", at, believed)
