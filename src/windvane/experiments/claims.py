"""A claim of the paper, and whether it holds here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["holds", "holds in part", "does not hold", "not tested"]


@dataclass(frozen=True)
class Claim:
    """What the paper says (in our words), the verdict, and the figures it rests on."""

    text: str
    verdict: Verdict
    evidence: str


def verdict_of(checks: Iterable[bool], least: float = 0.0) -> Verdict:
    """All: holds; more than the share `least`: in part; else it does not hold.

    >>> verdict_of([True, True]), verdict_of([True, False]), verdict_of([False])
    ('holds', 'holds in part', 'does not hold')
    >>> verdict_of([True, False, False], least=0.5)
    'does not hold'
    """
    outcomes = list(checks)
    if not outcomes:
        return "not tested"
    if all(outcomes):
        return "holds"
    return "holds in part" if sum(outcomes) > least * len(outcomes) else "does not hold"
