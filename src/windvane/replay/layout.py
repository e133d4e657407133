"""Which column of a table is what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from windvane.errors import InvalidArgument
from windvane.replay.cells import whole
from windvane.spaces import Arms, Box, Candidates, Choice, Domain, Space
from windvane.unit_labels import parted

VALUES = ("y", "value")
TIME = "time"
NOISE = ("noise_variance", "std")  # of a value, if known; of a journal std, of a replay both are the model's
REPEATS = "values"
OUTCOME = "outcome."  # of the value of a constraint, if the name alone is not a column
PREFIX = "x."  # of a parameter whose name is that of another column
JOURNAL = ("seq", "kind", "trial", "y")  # columns by which a study's export is recognised
REPORT = ("algorithm", "step", "mean", "std", "log_density")  # the same for the events that a replay wrote
COLUMNS = "a column for each coordinate (x1, x2, ...) or parameter (by its name) and one for y"


@dataclass(frozen=True)
class Layout:
    """The columns of a table: those of the point with the names of its parts, y, and what else there is.

    `form` is "list" for x1, x2, ...; "arm" for an arm; "dict" for named parameters.
    """

    form: str
    columns: tuple[tuple[str, str], ...]
    y: str
    time: str | None
    journal: bool
    noise: tuple[str, ...] = ()
    repeats: str | None = None
    outcomes: tuple[tuple[str, str], ...] = ()  # columns, and the names of the constraints

    def raw(self, row: Mapping[str, Any]) -> Any:
        """The cells of a point."""
        if self.form == "dict":
            return {name: row[column] for column, name in self.columns}
        cells = [row[column] for column, _ in self.columns]
        return cells if self.form == "list" else whole("arm", cells[0])

    def figures(self, space: Domain | None) -> list[str]:
        """The columns that hold numbers, or times, and no options."""
        options: Collection[str] = ()
        if isinstance(space, Space):
            options = [name for name, each in space.parameters if isinstance(each.values, Choice)]
        elif isinstance(space, Candidates):
            options = space.options
        found = [column for column, name in self.columns if name not in options]
        found += [self.y, *self.noise, *(column for column, _ in self.outcomes)]
        return found + ([self.time] if self.time is not None else [])


def layout_of(
    header: Sequence[str],
    space: Domain | None,
    metadata: Collection[str] = (),
    outcomes: Collection[str] = (),
    *,
    y: str | None = None,
    time: str | None = None,
) -> Layout:
    """The columns that a space needs; without a space, those that look like a point.

    `y` and `time` name the columns of the value and of the time if they are not called so.
    `outcomes` are the constraints whose values are wanted: in a column of that name, or of `outcome.name`.

    >>> layout_of(["x1", "x2", "y", "note"], None).columns
    (('x1', 'x1'), ('x2', 'x2'))
    >>> layout_of(["gain", "value", "time"], None)
    Layout(form='dict', columns=(('gain', 'gain'),), y='value', time='time', journal=False, ...)
    >>> layout_of(["x1", "y", "std"], None).noise
    ('std',)
    >>> layout_of(["gain [dB]", "y"], None).columns
    (('gain [dB]', 'gain'),)
    >>> layout_of(["gain", "y", "heat", "outcome.flow"], None, outcomes=["heat", "flow"]).outcomes
    (('heat', 'heat'), ('outcome.flow', 'flow'))
    """
    journal = all(name in header for name in JOURNAL)
    for name, column in (("y", y), ("time", time)):
        if column is not None and column not in header:
            raise InvalidArgument(f"{name}: there is no column {column}; has {_shown(header)}")
        if column is not None and journal:
            raise InvalidArgument(
                f"{name}={column!r}: this is the journal of a study, whose columns are known"
            )
    if y is not None and y == time:
        raise InvalidArgument(f"y, time: column {y} cannot be both")
    y = next((found for name in VALUES if (found := _column([name], header))), None) if y is None else y
    time = _column([TIME], header) if time is None else time
    if y is None:
        raise InvalidArgument(
            f"there is no column y (or value); needs {COLUMNS}; has {_shown(header)}. If it is called "
            "otherwise, name it: y=, or --y in a shell"
        )
    between = header[header.index("trial") + 1 : header.index("y")] if journal else header
    measured = _measured(header, outcomes)
    apart = (y, time, *metadata, *(column for column, _ in measured))
    free = [name for name in between if name not in apart and not name.startswith(OUTCOME)]
    if journal:
        after = header[header.index("y") :]
        noise, repeats = [name for name in NOISE[:1] if name in after], REPEATS in after
    else:
        ours, reported = _names(space), all(name in header for name in REPORT)
        noise = [name for name in NOISE if name in free and name not in ours and not reported]
        repeats = REPEATS in free and REPEATS not in ours and y != REPEATS
        free = [name for name in free if name not in noise and not (repeats and name == REPEATS)]
    form, columns = _guessed(free, header) if space is None else _needed(space, free, header)
    return Layout(form, columns, y, time, journal, tuple(noise), REPEATS if repeats else None, measured)


def _measured(header: Sequence[str], outcomes: Collection[str]) -> tuple[tuple[str, str], ...]:
    found = []
    for name in outcomes:
        column = _column((OUTCOME + name, name), header)
        if column is None:
            raise InvalidArgument(f"there is no column {name} (or {OUTCOME}{name}); has {_shown(header)}")
        found.append((column, name))
    return tuple(found)


def _names(space: Domain | None) -> tuple[str, ...]:
    """What is a coordinate, whatever it is called."""
    if isinstance(space, Space):
        return tuple(name for name, _ in space.parameters)
    return (space.names or ()) if isinstance(space, Candidates) else ()


def _needed(
    space: Domain, free: Sequence[str], header: Sequence[str]
) -> tuple[str, tuple[tuple[str, str], ...]]:
    if isinstance(space, Space):
        columns, lacking = _found([name for name, _ in space.parameters], free, PREFIX)
        if lacking:
            raise InvalidArgument(f"there is no column {_shown(lacking)}; has {_shown(header)}")
        return "dict", columns
    if isinstance(space, Arms):
        column = _column(("arm", "x", "x1"), free)
        if column is None:
            raise InvalidArgument(f"there is no column arm; has {_shown(header)}")
        return "arm", ((column, "arm"),)
    if isinstance(space, Candidates):
        return _of_candidates(space, free, header)
    assert isinstance(space, Box)
    one = space.dim == 1 and _column(["x1"], free) is None
    wanted = ["x"] if one else [f"x{i + 1}" for i in range(space.dim)]
    columns, lacking = _found(wanted, free)
    if lacking or _column([f"x{space.dim + 1}"], free):
        problem = f"there is no column {_shown(lacking)}" if lacking else f"x{space.dim + 1} is one too many"
        raise InvalidArgument(
            f"{problem}: a Box of {space.dim} needs {_shown(wanted)}; has {_shown(header)}. "
            "Parameters with names make a Space: --param gain=real:0:1 in a shell"
        )
    return "list", columns


def _of_candidates(
    space: Candidates, free: Sequence[str], header: Sequence[str]
) -> tuple[str, tuple[tuple[str, str], ...]]:
    """A column of numbers, or the columns of the list."""
    for column in ("candidate", "arm"):
        if column in free:
            return "arm", ((column, "candidate"),)
    wanted = list(space.names or (f"x{i + 1}" for i in range(len(space.rows[0]))))
    columns, lacking = _found(wanted, free, PREFIX)
    if lacking:
        raise InvalidArgument(
            f"there is no column candidate, and none called {_shown(lacking)}; has {_shown(header)}"
        )
    return "list" if space.names is None else "dict", columns


def _guessed(free: Sequence[str], header: Sequence[str]) -> tuple[str, tuple[tuple[str, str], ...]]:
    numbered = sorted(
        (name for name in free if name[:1] == "x" and name[1:].isdecimal()), key=lambda name: int(name[1:])
    )
    if numbered:
        for place, name in enumerate(numbered, start=1):
            if name != f"x{place}":
                raise InvalidArgument(f"there is {name}, but no column x{place}; has {_shown(header)}")
        return "list", tuple((name, name) for name in numbered)
    if "x" in free:
        return "list", (("x", "x"),)
    if "arm" in free:
        return "arm", (("arm", "arm"),)
    if not free:
        raise InvalidArgument(f"there is no column but y and time; needs {COLUMNS}; has {_shown(header)}")
    return "dict", tuple((name, parted(name)[0].removeprefix(PREFIX)) for name in free)


def _found(
    names: Sequence[str], header: Sequence[str], prefix: str = ""
) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """The columns of these names, which may have a prefix, each with its name; and the names without one."""
    columns = {name: _column((prefix + name, name), header) for name in names}
    pairs = tuple((column, name) for name, column in columns.items() if column is not None)
    return pairs, [name for name, column in columns.items() if column is None]


def _column(names: Sequence[str], header: Sequence[str]) -> str | None:
    """The column that has the first of these names that there is, whether a unit stands beside it or not."""
    for name in names:
        alike = [column for column in header if parted(column)[0] == name]
        found = name if name in alike else next(iter(alike), name)
        if found in header:
            return found
    return None


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names)
