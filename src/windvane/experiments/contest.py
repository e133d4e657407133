"""Who competes, on what, and what each is told: names as people type them -> the cells of a leaderboard."""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from windvane.algorithms import ALGORITHMS
from windvane.checks import one_of
from windvane.entries import Entry, parse
from windvane.errors import InvalidArgument, UnknownName, WindvaneError
from windvane.experiments import spelling
from windvane.experiments.experiment import Cell
from windvane.experiments.measures import optimizer_for, own_algorithm, own_signature
from windvane.experiments.trial import TOLD, Call, RunSpec, call
from windvane.surrogates import Given
from windvane.tasks import TASKS, Constrained, Task, task

YARDSTICK = "random"
DEFAULT_ALGORITHMS = (
    "gp-ucb",
    "r-gp-ucb",
    "et-gp-ucb",
    "et-gp-ucb-backtracking",
    "tv-gp-ucb",
    "ui-tvbo",
    "turbo-trigger",
    "random",
)
DEFAULT_TASKS = (
    "within-model:rate=0.01",
    "within-model:rate=0.05",
    "rate-change",
    "ackley-shift",
    "hartmann-shift",
    "policy-search",
    "deng-abrupt",
    "deng-slow",
)
FROM_FILES = {"temperature": "synthetic=true", "stocks": "skfolio=true"}  # and what does without
RATE = 0.03  # told where a task has no rate of its own, as the paper does for real data
LENGTHS = {"sw-gp-ucb": "window", "br-gp-ucb": "period", "w-gp-ucb": "forgetting"}  # or else the variation
NO_RATE_NEEDED = ("tv-gp-ucb-mle",)  # which finds its own
SELF_RELIANT = ("auto",)  # told the kernel, where there is one, and nothing else
PATHS = ("file", "data")
OBJECTS = ("kernel", "learning", "scaling", "hypotheses", "constraints", "start")  # which cannot be typed
OF_LIMITS = ("constraints", "start")  # what a task with constraints can tell: they are as open as its space


@dataclass(frozen=True)
class Arena:
    """A task of the contest, and what it knows of itself (at the first seed)."""

    label: str
    call: Call
    task: Task

    @property
    def rate(self) -> float | None:
        """Its rate of change, if it has one."""
        found = getattr(self.task, "rate", None)
        return float(found) if isinstance(found, numbers.Real) else None

    @property
    def learned(self) -> bool:
        """Whether its kernel is for the algorithms to learn."""
        return self.task.kernel is None

    @property
    def limited(self) -> bool:
        """Whether it has constraints."""
        return isinstance(self.task, Constrained) and bool(self.task.constraints)

    def knows(self, name: str) -> bool:
        """Whether it has an attribute of that name."""
        return getattr(self.task, name, None) is not None

    @property
    def stand_in(self) -> str | None:
        """What its numbers stand in for, if they do."""
        source = str(getattr(self.task, "source", ""))
        return source if "stand-in" in source else None


# -- tasks ---------------------------------------------------------------------------------------------


def arenas(
    texts: Sequence[str] | None,
    *,
    seed: int,
    data: Path | None = None,
    table: Path | None = None,
    train_rows: int | None = None,
) -> tuple[list[Arena], list[str]]:
    """The tasks, built once so that mistakes show before anything runs; and what was left out, and why."""
    left_out: list[str] = []
    found = []
    if texts is not None:
        found = [arena(_sourced(entry, data), seed, entry.label) for entry in parse("--tasks", texts)]
    elif table is None:
        found = [arena(entry, seed) for entry in parse("--tasks", DEFAULT_TASKS)]
        for name in FROM_FILES if data is not None else ():
            try:
                found.append(arena(Entry(name, (("data", data),)), seed, name))
            except WindvaneError as error:
                left_out.append(f"{name}: {error}")
    if table is not None:
        if train_rows is None:
            raise InvalidArgument(
                "--table: needs --train-rows N, how many of its rows are known before the first step"
            )
        options = (("file", table.resolve()), ("train_rows", train_rows))
        found.append(arena(Entry("table", options), seed, label=f"table {table.name}"))
    elif train_rows is not None:
        raise InvalidArgument("--train-rows: belongs to --table FILE, which is not given")
    labels = [one.label for one in found]
    for label in labels:
        if labels.count(label) > 1:
            raise InvalidArgument(
                f"--tasks {label}: two tasks would have this name; give the files other names"
            )
    return found, left_out


def arena(entry: Entry, seed: int, label: str | None = None) -> Arena:
    """One task; errors name it."""
    known = TASKS[one_of("--tasks", entry.name, TASKS)].options
    allowed = [option for option in known if option not in ("seed", "values")]
    options = {name: Path(value).resolve() if name in PATHS else value for name, value in entry.options}
    for option in options:
        _option(f"--tasks {entry.name}", option, allowed)
    try:
        built = task(entry.name, **options, **({"seed": seed} if "seed" in known else {}))
    except WindvaneError as error:
        raise type(error)(f"{label or entry.label}: {error}") from None
    return Arena(label or entry.label, call(entry.name, **options), built)


def _option(where: str, option: str, allowed: Collection[str]) -> None:
    """An error unless there is such an option."""
    if not allowed:
        raise UnknownName(f"{where}: option={option!r}: it has no options")
    one_of(f"{where}: option", option, allowed)


def _sourced(entry: Entry, data: Path | None) -> Entry:
    """A task that reads a file reads it from the data folder, unless it says otherwise."""
    given = entry.keywords()
    if entry.name not in FROM_FILES or "data" in given or {"synthetic", "skfolio"} & set(given):
        return entry
    if data is None:
        raise InvalidArgument(
            f"--tasks {entry.name}: needs its data; give --data FOLDER, "
            f"or {entry.name}:{FROM_FILES[entry.name]} for the documented stand-in"
        )
    return Entry(entry.name, (*entry.options, ("data", data)))


# -- algorithms ----------------------------------------------------------------------------------------


def contestants(texts: Sequence[str] | None) -> list[Entry]:
    """The algorithms, each a name that `wv.make` knows or a module:function that exists."""
    entries = parse("--algorithms", DEFAULT_ALGORITHMS if texts is None else texts)
    for entry in entries:
        if ":" in entry.name:
            _own(entry)
            continue
        name = one_of("--algorithms", entry.name, ALGORITHMS)
        allowed = [known for known in ALGORITHMS[name].options if known not in OBJECTS]
        for option in entry.keywords():
            _option(f"--algorithms {name}", option, (*allowed, spelling.BLIND))
        spelling.label(entry), spelling.options(entry)  # refuse what is misspelt
    return entries


def _own(entry: Entry) -> None:
    """A function that can be called with what it would be told."""
    module, _, function = entry.name.partition(":")
    if module in ALGORITHMS:
        raise InvalidArgument(f"--algorithms {entry.name}: options have a value, as in {module}:{function}=1")
    own_algorithm(entry.name)
    parameters = list(own_signature(entry.name).values())
    names = [p.name for p in parameters[1:]]
    if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY:
        raise InvalidArgument(f"--algorithms {entry.name}: its first argument must be the space")
    takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters)
    for option in entry.keywords():
        if not takes_all:
            _option(f"--algorithms {entry.name}", option, names)
    told = (*TOLD, "horizon", "rate", "seed", *OF_LIMITS, *entry.keywords())
    for p in parameters[1:]:
        needed = p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        if needed and (p.kind is p.POSITIONAL_ONLY or p.name not in told):
            raise InvalidArgument(
                f"--algorithms {entry.name}: nobody tells it {p.name!r}; it may ask for "
                f"{', '.join(told[:7])}. Give others a default, or a value as in {entry.name}:{p.name}=1"
            )


# -- who is told what ----------------------------------------------------------------------------------


def cells(
    entries: Iterable[Entry], where: Iterable[Arena], rate: float = RATE, *, tells: bool = True
) -> list[Cell]:
    """Every algorithm on every task, with what it is told of it; nothing, unless the contest `tells`."""
    return [cell(entry, arena, rate, tells=tells) for arena in where for entry in entries]


def cell(entry: Entry, arena: Arena, rate: float = RATE, *, tells: bool = True) -> Cell:
    """One algorithm on one task.

    Where a task has no kernel, its noise is not told either: `make` then scales y and learns both.
    """
    options = spelling.options(entry)
    own, blind = ":" in entry.name, spelling.blind(entry) or not tells
    wants = _wanted(entry)
    told: tuple[str, ...] = () if arena.learned or blind else TOLD
    if entry.name in SELF_RELIANT:
        told = told[:1]
    if own and (arena.learned or not tells):
        silent = TOLD if tells else (*TOLD, "horizon")
        options = dict.fromkeys(silent) | options  # it may ask for them, and is told None
    if not told and entry.name == YARDSTICK:
        options.setdefault("learning", Given())  # its model is of no use to it
    if "horizon" in wants and not blind:
        told += ("horizon",)
    if "rate" in wants:
        if arena.rate is None or blind:
            options["rate"] = rate
        else:
            told += ("rate",)
    for known in ("variation", "bound"):
        if known in wants and arena.knows(known) and not blind:
            told += (known,)
    told += _limits_told(entry, arena)
    if entry.name in LENGTHS and "variation" in wants and (blind or not arena.knows("variation")):
        length = LENGTHS[entry.name]
        raise InvalidArgument(
            f"--algorithms {entry.name}: needs the budget of variation, which {arena.label} does not know; "
            f"give it as {entry.name}:variation=10, or {length} itself as {entry.name}:{length}=..., "
            "or keep to tasks that know it, such as deng-abrupt and deng-slow"
        )
    return Cell(spelling.label(entry), arena.label, arena.call, call(entry.name, **options), told)


def _limits_told(entry: Entry, arena: Arena) -> tuple[str, ...]:
    """Constraints, and with `safe` the settings to start from; random search, a yardstick, ignores them."""
    if ":" in entry.name:
        parameters = own_signature(entry.name)
        named = tuple(name for name in OF_LIMITS if name in parameters)
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        return named or (("constraints",) if takes_all and arena.limited else ())
    if not arena.limited or entry.name == YARDSTICK or "constraints" not in ALGORITHMS[entry.name].options:
        return ()
    return OF_LIMITS if "safe" in entry.keywords() else OF_LIMITS[:1]


def _wanted(entry: Entry) -> set[str]:
    """What the algorithm can be told beside kernel and noise, and was not given."""
    given = entry.keywords()
    if ":" in entry.name:
        parameters = own_signature(entry.name)
        takes_all = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
        asked = {"horizon", "rate"} if takes_all else {"horizon", "rate"} & set(parameters)
        return asked - set(given)
    wants = {"horizon", "rate", "variation", "bound"} & set(ALGORITHMS[entry.name].options) - set(given)
    if entry.name in SELF_RELIANT:
        return set()
    if entry.name in NO_RATE_NEEDED or "period" in given:
        wants.discard("rate")
    if LENGTHS.get(entry.name) in given:
        wants -= {"variation", "horizon"}
    return wants


def told_rate(entry: Entry) -> bool:
    """Whether the algorithm is told a rate of change on every task."""
    return "rate" in _wanted(entry)


def rehearse(found: Iterable[Cell], where: Iterable[Arena], seed: int) -> None:
    """Make every optimiser of ours once: a mistake in an option shows now, not after an hour."""
    tasks = {arena.label: arena.task for arena in where}
    for one in found:
        if ":" not in one.algorithm.name:
            try:
                optimizer_for(RunSpec(one.task, one.algorithm, seed, one.told), tasks[one.column])
            except WindvaneError as error:
                raise type(error)(f"{one.row} on {one.column}: {error}") from None


def notes(entries: Sequence[Entry], where: Sequence[Arena], rate: float = RATE) -> list[str]:
    """What a reader must know of who was told what."""
    said = []
    rated = [spelling.label(entry) for entry in entries if told_rate(entry)]
    if rated:
        own = [f"{arena.rate:g} on {arena.label}" for arena in where if arena.rate is not None]
        none = [arena.label for arena in where if arena.rate is None]
        parts = [f"the task's own, {', '.join(own)}"] if own else []
        parts += [f"{rate:g} (--rate) where a task has none: {', '.join(none)}"] if none else []
        said.append(f"Told a rate of change: {', '.join(rated)}. It is {'; '.join(parts)}.")
    told_budget = [spelling.label(entry) for entry in entries if "variation" in _wanted(entry)]
    if told_budget:
        said.append(f"Told the budget of variation of each task: {', '.join(told_budget)}.")
    limited = [arena for arena in where if arena.limited]
    if limited:
        obeying = [spelling.label(entry) for entry in entries if _limits_told(entry, limited[0])]
        said.append(
            f"There are constraints on: {', '.join(arena.label for arena in limited)}. "
            f"Told them: {', '.join(obeying) or 'nobody'}."
        )
    learned = [arena.label for arena in where if arena.learned]
    if learned:
        said.append(f"Kernel and noise are not told but learned on: {', '.join(learned)}.")
    said += [f"{arena.label} is a {arena.stand_in}." for arena in where if arena.stand_in]
    return said
