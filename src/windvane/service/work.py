"""How much work a study may ask for over HTTP, where a stranger's study shares threads with everybody's.

In the library and in the shell one waits for one's own study, and none of this holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windvane.errors import InvalidArgument
from windvane.service import limits
from windvane.spaces.base import Domain

MOST: dict[str, int] = {  # of an integer, by the name of the option or of the component's field
    "starts": 64,  # ascents of one fit
    "arms": limits.ARMS,
}
LONGEST: dict[str, int] = {  # of a list or an object
    "hypotheses": 32,  # models that every step is told to
    "constraints": 32,  # the same
    "windows": 32,  # the same, of different lengths
    "weights": 64,  # states of a seasonal model
    "spreads": 64,  # times the shifts: detectors that run side by side
    "shifts": 64,
    "start": 1000,
}
COMPONENTS = 100  # kernels in kernels, and so on
DEEPEST = 30
HORIZON = 5000  # with variation=: the work grows with its square, and takes a second there
COORDINATES = 1000  # of a space; each option of a choice is one


def check_work(options: Mapping[str, Any], space: Domain) -> None:
    """`InvalidArgument` if a study would take more than its share.

    >>> from windvane.spaces import Box
    >>> check_work({"learning": {"type": "LearnOnline", "search": {"type": "Search", "starts": 1000}}}, Box([(0, 1)]))
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: options.learning.search.starts=1000: over HTTP it must be at most 64
    """  # noqa: E501
    coordinates = space.dim
    if coordinates > COORDINATES:
        raise InvalidArgument(
            f"space: {coordinates} coordinates, of which each option of a choice is one; over HTTP it must "
            f"be at most {COORDINATES}"
        )
    horizon = options.get("horizon")
    if options.get("variation") is not None and isinstance(horizon, int) and horizon > HORIZON:
        raise InvalidArgument(
            f"options.horizon={horizon}: over HTTP it must be at most {HORIZON} with variation=, since the "
            "length that follows takes long to work out; give that instead (window=, period= or forgetting=)"
        )
    found = _components("options", "", options, 0)
    if found > COMPONENTS:
        raise InvalidArgument(f"options: {found} components; over HTTP it must be at most {COMPONENTS}")


def _components(path: str, name: str, value: Any, depth: int) -> int:
    """How many components there are inside, each within its bounds."""
    if depth > DEEPEST:
        raise InvalidArgument(f"{path[:100]}: components inside each other, deeper than {DEEPEST}")
    if isinstance(value, int) and name in MOST and value > MOST[name]:
        raise InvalidArgument(f"{path}={value}: over HTTP it must be at most {MOST[name]}")
    if not isinstance(value, Mapping | list):
        return 0
    if name in LONGEST and len(value) > LONGEST[name]:
        raise InvalidArgument(f"{path}: {len(value)} of them; over HTTP it must be at most {LONGEST[name]}")
    if isinstance(value, Mapping):
        own = sum(_components(f"{path}.{key}", key, item, depth + 1) for key, item in value.items())
        return own + ("type" in value)
    if value and isinstance(value[0], int | float):  # a row of a matrix, as long as the body may be
        return 0
    return sum(_components(f"{path}[{i}]", "", item, depth + 1) for i, item in enumerate(value))
