"""The standard suite: the tasks and the rivals of the leaderboard of adaptivity.

Nothing here is tuned to an algorithm: a task is in the suite because things change like that somewhere, or
because the literature uses it. An algorithm that adapts should do well on all of them without being told
which one it faces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from windvane.algorithms import ALGORITHMS
from windvane.entries import Entry, named_parts, parse
from windvane.errors import WindvaneError
from windvane.experiments import contest, spelling
from windvane.experiments.contest import Arena

FIRST_SEED = 4000
DESIGN_SEEDS = range(2010)
TUNING = (
    "Seeds 0 to 39, 100 to 119, 1000 to 1009 and 2000 to 2009 were used while `auto` was designed; "
    "no choice was made on those of this page."
)
SUBJECT = "auto"  # the algorithm whose adaptivity the page is about


@dataclass(frozen=True)
class SuiteTask:
    """A task of the suite: its name in tables, the entry it is built from, and what changes in it."""

    label: str
    text: str
    about: str


TASKS = (
    SuiteTask("static", "within-model:rate=0.0,horizon=300", "nothing changes"),
    SuiteTask("drift 0.003", "within-model:rate=0.003,horizon=300", "slow drift, eps = 0.003"),
    SuiteTask("drift 0.01", "within-model:rate=0.01,horizon=300", "drift, eps = 0.01"),
    SuiteTask("drift 0.03", "within-model:rate=0.03,horizon=300", "drift, eps = 0.03"),
    SuiteTask("drift 0.1", "within-model:rate=0.1,horizon=300", "fast drift, eps = 0.1"),
    SuiteTask("drift 0.03 in 1-d", "within-model:rate=0.03,dim=1,horizon=300", "drift on a line"),
    SuiteTask("drift 0.01 in 4-d", "within-model:rate=0.01,dim=4,horizon=200", "drift in four dimensions"),
    SuiteTask("rate change", "rate-change:horizon=350", "eps = 0.01, from t = 175 on 0.05"),
    SuiteTask("seasons", "seasonal:period=150,horizon=300", "to the opposite and back, twice"),
    SuiteTask("jumps", "jumps:horizon=300", "still, but for two jumps to another function"),
    SuiteTask("half jumps", "jumps:share=0.5,horizon=300", "still, but half is replaced twice"),
    SuiteTask("static + outliers", "outliers:rate=0.0,horizon=300", "2 % of the observations are far off"),
    SuiteTask("drift 0.01 + outliers", "outliers:rate=0.01,horizon=300", "the same, with drift"),
    SuiteTask(
        "static + noise told / 4",
        "misjudged-noise:factor=0.25,rate=0.0,horizon=300",
        "the noise is four times what is told",
    ),
    SuiteTask(
        "static + noise told x 4",
        "misjudged-noise:factor=4.0,rate=0.0,horizon=300",
        "the noise is a quarter of what is told",
    ),
    SuiteTask(
        "drift 0.03 + noise told / 4",
        "misjudged-noise:factor=0.25,rate=0.03,horizon=300",
        "the noise is four times what is told, with drift",
    ),
    SuiteTask(
        "drift 0.03 + noise told x 4",
        "misjudged-noise:factor=4.0,rate=0.03,horizon=300",
        "the noise is a quarter of what is told, with drift",
    ),
    SuiteTask("Ackley", "ackley-shift:horizon=100", "moved halfway; nothing is told of the function"),
    SuiteTask("Hartmann", "hartmann-shift:horizon=100", "the same in six dimensions"),
    SuiteTask("policy search", "policy-search:horizon=200", "gains of a cart-pole whose friction grows"),
    SuiteTask("Deng abrupt", "deng-abrupt:horizon=300", "two jumps on a line"),
    SuiteTask("Deng slow", "deng-slow:horizon=300", "a slow turn on a line"),
    SuiteTask("lab stand-in", "temperature:synthetic=true", "46 sensors, sun and air conditioning"),
)
FROM_DATA = (  # with --data only
    SuiteTask("lab days 7-8", "temperature:days=7-8", "46 sensors of the Intel lab"),
    SuiteTask("lab days 5-6", "temperature:days=5-6", "the same, other days"),
    SuiteTask("shares", "stocks", "prices of 29 shares, 823 days"),
)

PREFERRED = (  # in the order of the tables; those that the package has not are passed over
    "auto",
    "auto:blind=true",
    "et-gp-ucb",
    "et-gp-ucb:trigger=exact-bound",
    "et-gp-ucb:trigger=e-detector",
    "et-gp-ucb-confirmed",
    "et-gp-ucb-backtracking",
    "et-gp-ucb[0.01,0.05]",
    "tv-gp-ucb",
    "tv-gp-ucb-constant",
    "ui-tvbo",
    "w-dbo",
    "r-gp-ucb",
    "sw-gp-ucb-evidence",
    "turbo-trigger",
    "gp-ucb",
    "igp-ucb",
    "random",
)
SLOW = ("tv-gp-ucb-mle",)  # fits at every step, so it is far slower than the rest
LEFT_OUT = (
    "`sw-gp-ucb`, `br-gp-ucb` and `w-gp-ucb`: they need the budget of variation, which only two of the tasks "
    "know; with a guess of ours their figures would be the guess's.",
    "`always-n-low`, `r-gp-ucb-average` and the other windows of `et-gp-ucb`: the paper's ablations, not "
    "rivals of their own.",
)


def contestants(texts: Sequence[str] | None, *, slow: bool = False) -> list[Entry]:
    """The algorithms that were asked for, else all of the suite that the package has."""
    if texts is not None:
        return contest.contestants(texts)
    wanted = parse("--algorithms", (*PREFERRED, *(SLOW if slow else ())))
    triggers = {None, *named_parts("trigger")}
    return [
        entry
        for entry in wanted
        if entry.name in ALGORITHMS and entry.keywords().get(spelling.TRIGGER) in triggers
    ]


def arenas(*, seed: int, data: Path | None) -> tuple[list[Arena], list[str]]:
    """The tasks; and what was left out, and why."""
    found = [_arena(member, seed) for member in TASKS]
    if data is None:
        names = ", ".join(member.label for member in FROM_DATA)
        return found, [f"{names}: they need the data of others; give --data FOLDER."]
    left_out = []
    for member in FROM_DATA:
        try:
            found.append(_arena(member, seed, data))
        except WindvaneError as error:
            left_out.append(str(error))
    return found, left_out


def _arena(member: SuiteTask, seed: int, data: Path | None = None) -> Arena:
    (entry,) = parse("--suite", [member.text])
    if data is not None:
        entry = Entry(entry.name, (*entry.options, ("data", data)))
    return contest.arena(entry, seed, member.label)


def member(label: str) -> SuiteTask:
    """The task of that name."""
    return next(one for one in (*TASKS, *FROM_DATA) if one.label == label)
