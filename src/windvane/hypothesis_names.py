"""What hypotheses about time are called, and what their names mean in a sentence.

A name says what goes on and how fast, with its unit: the weights in `Event.beliefs`, the page, the plots and
the documentation all have the same ones. What a name means can be read from the name alone, also from that of
an event that was recorded years ago.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import TypeVar

T = TypeVar("T")

CHANGED, MOVED = "changed at step ", "level moved at step "  # how such names begin
SEASON, SWING = "season of ", "swing of "
FORMER = {  # what they were called before, in states and records of that time
    "drift 0.003": "drifts 0.3 % per step",
    "drift 0.01": "drifts 1 % per step",
    "drift 0.03": "drifts 3 % per step",
    "drift 0.1": "drifts 10 % per step",
    "drift 0.3": "drifts 30 % per step",
    "half drifts 0.03": "half of it drifts 3 % per step",
    "half drifts 0.2": "half of it drifts 20 % per step",
    "a fifth drifts 0.3": "a fifth of it drifts 30 % per step",
    "trend 10": "trend over 10 steps",
    "trend 30": "trend over 30 steps",
    "larger, drift 0.01": "3 times as large, drifts 1 % per step",
    "level drifts": "level drifts 3 % per step",
    "own parts drift 0.03": "each arm drifts alone, 3 % per step",
    "own parts drift 0.2": "each arm drifts alone, 20 % per step",
}
FORMER_CHANGE = re.compile(r"(changed at|level moved at) (\d+)")


def present(name: str) -> str:
    """The name that a hypothesis has now; one that never had another stays as it is.

    >>> present("half drifts 0.03"), present("changed at 81"), present("mine")
    ('half of it drifts 3 % per step', 'changed at step 81', 'mine')
    """
    change = FORMER_CHANGE.fullmatch(name)
    return f"{change[1]} step {change[2]}" if change else FORMER.get(name, name)


def by_present_name(weights: Mapping[str, T]) -> dict[str, T]:
    """The same weights, each under the name that its hypothesis has now."""
    return {present(name): weight for name, weight in weights.items()}


def is_change(name: str) -> bool:
    """Whether it is the hypothesis of a sudden change: of everything, or of the level alone.

    >>> is_change("changed at step 81"), is_change("level drifts 3 % per step")
    (True, False)
    """
    return present(name).startswith((CHANGED, MOVED))


def step_of_change(name: str) -> int | None:
    """The step at which such a hypothesis says that something changed; None of any other.

    >>> step_of_change("level moved at step 81"), step_of_change("season of 24 steps")
    (81, None)
    """
    found = re.fullmatch(rf"(?:{CHANGED}|{MOVED})(\d+)", present(name))
    return int(found[1]) if found else None


def with_place(name: str, place: Callable[[int], str]) -> str:
    """The name with something else in the place of the step at which something changed, if there is one.

    >>> with_place("changed at step 81", lambda step: f"trial {step - 1}")
    'changed at trial 80'
    """
    step, name = step_of_change(name), present(name)
    return name if step is None else name.removesuffix(f"step {step}") + place(step)


def describe_hypothesis(name: str) -> str:
    """What a hypothesis about time means, by its name in `Event.beliefs`; empty for a name of your own.

    >>> describe_hypothesis("drifts 3 % per step")
    'drifts slowly: 3 % of the variance per step, half of it new after 23 steps'
    >>> describe_hypothesis("changed at step 81")
    'all is new since step 81 and stands still: what was measured before says nothing any more'
    """
    name = present(name)
    for start, meaning in NUMBERED.items():
        number = name.removeprefix(start).removesuffix(" steps")
        if name.startswith(start) and NUMBER.fullmatch(number):
            return meaning.format(number)
    for pattern, described in MEANINGS.items():
        found = re.fullmatch(pattern, name)
        if found:
            return described(*found.groups())
    return ""


def _drift(percent: str) -> str:
    """How fast, in words and figures; after n steps (1 - eps)^n of the variance is old."""
    rate = float(percent) / 100.0
    pace = (
        "very slowly" if rate < 0.01 else "slowly" if rate < 0.1 else "fast" if rate < 0.25 else "very fast"
    )
    half = math.log(0.5) / math.log1p(-rate)
    return f"drifts {pace}: {percent} % of the variance per step, half of it new after {half:.0f} steps"


NUMBER = re.compile(r"\d[\d.e+]*")
NUMBERED = {
    CHANGED: "all is new since step {} and stands still: what was measured before says nothing any more",
    MOVED: "since step {} all of it is higher or lower by the same amount: what was measured before still "
    "counts, at the new level",
    SEASON: "comes back every {} steps, but for a tenth of the variance, which is new each time",
    SWING: "goes to its opposite and back in {} steps, and is slowly another one",
}
"""How names begin that go on with a number, and what they mean."""

PERCENT = r"(\d+|0\.\d+) % per step"
MEANINGS: dict[str, Callable[..., str]] = {
    "static": lambda: "nothing changes: what was measured counts for ever",
    f"drifts {PERCENT}": _drift,
    f"(half|a fifth) of it drifts {PERCENT}": lambda part, rate: (
        f"{part} of the variance {_drift(rate)}; the rest stays"
    ),
    r"trend over (\d+) steps": lambda steps: (
        f"goes on as it went: smooth trends that last some {steps} steps"
    ),
    rf"(\d+) times as large, drifts {PERCENT}": lambda times, rate: (
        f"varies {times} times as much as its scale says, and {_drift(rate)}"
    ),
    f"level drifts {PERCENT}": lambda rate: (
        f"the shape stays, and all of it goes up and down together: the level {_drift(rate)}"
    ),
    f"each arm drifts alone, {PERCENT}": lambda rate: (
        f"beside what the arms share, each has a part of its own that {_drift(rate)}"
    ),
}
"""All other names, as regular expressions, and what makes a sentence of the parts in brackets."""


def glossary() -> dict[str, str]:
    """Every name that `auto` gives by itself, with its meaning; `{}` stands for a number.

    >>> glossary()["changed at step {}"]
    'all is new since step {} and stands still: what was measured before says nothing any more'
    """
    ends = {SEASON: " steps", SWING: " steps"}
    fixed = {name: describe_hypothesis(name) for name in ("static", *FORMER.values())}
    return {**fixed, **{f"{start}{{}}{ends.get(start, '')}": text for start, text in NUMBERED.items()}}
