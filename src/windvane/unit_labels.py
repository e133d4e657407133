"""Units beside the names of columns, `force [N]`, and which parameters of a space have one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from windvane.errors import InvalidArgument

UNIT = "unit"  # the key of a unit in the metadata of a column of Parquet
# brackets inside of a unit are doubled, so that a heading can be read in one way only
LABELLED = re.compile(r"(?P<name>.*\S) \[(?P<unit>(?:[^\[\]]|\[\[|\]\])*)\]", re.DOTALL)


def labelled(name: str, unit: str) -> str:
    """The heading of a column: a name, and the unit of what stands below it.

    A name that ends in a bracket itself gets empty ones, or they would be taken for a unit.

    >>> labelled("force", "N"), labelled("mode", ""), labelled("step [mm]", ""), labelled("dose", "a[b]")
    ('force [N]', 'mode', 'step [mm] []', 'dose [a[[b]]]')
    """
    if not unit and not name.endswith("]"):
        return name
    return f"{name} [{unit.replace('[', '[[').replace(']', ']]')}]"


def parted(heading: str) -> tuple[str, str]:
    """The name and the unit of a heading; the unit is empty if there is none.

    >>> parted("force [N]"), parted("mode"), parted("step [mm] []"), parted("dose [a[[b]]]")
    (('force', 'N'), ('mode', ''), ('step [mm]', ''), ('dose', 'a[b]'))
    """
    found = LABELLED.fullmatch(heading)
    if found is None:
        return heading, ""
    return found["name"], found["unit"].replace("[[", "[").replace("]]", "]").strip()


def units_of(space: Any) -> dict[str, str]:
    """The units of a space by the names of its parameters; those without one are left out."""
    pairs = getattr(space, "parameters", ())
    return {name: unit for name, each in pairs if (unit := getattr(each.values, "unit", ""))}


def check_unit(what: str, name: str, found: str, known: Mapping[str, str]) -> None:
    """An error if a log has a quantity in another unit than the one that it is known in."""
    if found and known.get(name) and found.strip() != known[name].strip():
        raise InvalidArgument(
            f"{what}: {name} is in {found!r} here, but was declared in {known[name]!r}; convert the values, "
            "or take the unit out if it only is another spelling"
        )
