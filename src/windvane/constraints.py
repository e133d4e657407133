"""What must hold beside the objective: a quantity that is measured with each value, and its limit."""

from __future__ import annotations

import unicodedata
from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, final

from windvane.checks import real
from windvane.codec import component, decode, encode
from windvane.errors import CorruptState, InvalidArgument, InvalidType, WindvaneError
from windvane.kernels import Kernel

LONGEST_NAME = 100  # characters
LONGEST_UNIT = 40
OPTIONAL = {"if_used": True}  # fields that a state leaves out where they are not in use


@dataclass(frozen=True)
class Constraint(ABC):
    """A limit on a measured quantity g, in its own units.

    `kernel` and `noise_variance` say how g varies, if you know; else that is learned, as of the objective.
    `mean` is what is expected of g where nothing was measured; unless it is given, that is the limit if
    points must be safe or the kernel is told, so that the odds are even there, else it is learned.
    Inside, a constraint is a quantity that must be at least its limit: `sign` turns it that way.
    """

    limit: float
    unit: str = field(default="", metadata=OPTIONAL)
    kernel: Kernel | None = field(default=None, metadata=OPTIONAL)
    noise_variance: float | None = field(default=None, metadata=OPTIONAL)
    mean: float | None = field(default=None, metadata=OPTIONAL)

    sign: ClassVar[float]
    symbol: ClassVar[str]

    def __post_init__(self) -> None:
        name = type(self).__name__
        object.__setattr__(self, "limit", real(f"{name}(limit)", self.limit))
        if not isinstance(self.unit, str) or len(self.unit) > LONGEST_UNIT or not self.unit.isprintable():
            raise InvalidType(
                f"{name}(unit)={self.unit!r}: must be printable text of at most {LONGEST_UNIT} characters"
            )
        if self.kernel is not None and not isinstance(self.kernel, Kernel):
            raise InvalidType(
                f"{name}(kernel)={self.kernel!r}: must be a kernel in space such as wv.RBF(0.2)"
            )
        if self.noise_variance is not None:
            noise = real(f"{name}(noise_variance)", self.noise_variance, above=0.0)
            object.__setattr__(self, "noise_variance", noise)
        if self.mean is not None:
            object.__setattr__(self, "mean", real(f"{name}(mean)", self.mean))

    def margin(self, value: float) -> float:
        """How far a value is on the right side of the limit; negative beyond it.

        >>> AtMost(90.0).margin(84.0), AtLeast(0.8).margin(0.5) < 0
        (6.0, True)
        """
        return self.sign * (value - self.limit)

    def met(self, value: float) -> bool:
        """Whether a value is within the limit.

        >>> AtMost(90.0).met(90.0), AtMost(90.0).met(90.1)
        (True, False)
        """
        return self.margin(value) >= 0.0

    def __str__(self) -> str:
        return f"{self.symbol} {self.limit:g}{self.unit and ' '}{self.unit}"


@final
@component
@dataclass(frozen=True)
class AtMost(Constraint):
    """The quantity must not be above the limit.

    >>> str(AtMost(90, unit="°C"))
    '<= 90 °C'
    """

    sign: ClassVar[float] = -1.0
    symbol: ClassVar[str] = "<="


@final
@component
@dataclass(frozen=True)
class AtLeast(Constraint):
    """The quantity must not be below the limit.

    >>> str(AtLeast(0.8))
    '>= 0.8'
    """

    sign: ClassVar[float] = 1.0
    symbol: ClassVar[str] = ">="


def constraint_names(given: Any, taken: tuple[str, ...] = ()) -> dict[str, Constraint]:
    """Constraints by name, checked; `taken` are names that mean something else where they are told.

    >>> constraint_names({"time": AtMost(1)}, taken=("time",))
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: constraints: 'time' has another meaning in tell(); choose another name
    """
    if not isinstance(given, dict) or not given:
        raise InvalidType(
            f"constraints={given!r}: must be a dict such as {{'heat': wv.AtMost(90)}}, not an empty one"
        )
    for name, constraint in given.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise InvalidArgument(f"constraints: {name!r} must be a name such as 'heat', to be told by it")
        if len(name) > LONGEST_NAME:
            raise InvalidArgument(
                f"constraints: {name[:20]!r}...: a name has at most {LONGEST_NAME} characters"
            )
        usual = unicodedata.normalize("NFKC", name)
        if usual != name:  # Python takes it for the other one where it is told as a keyword
            raise InvalidArgument(f"constraints: {name!r} is {usual!r} to Python; call it that")
        if name in taken:
            raise InvalidArgument(f"constraints: {name!r} has another meaning in tell(); choose another name")
        if not isinstance(constraint, Constraint):
            raise InvalidType(
                f"constraints[{name!r}]={constraint!r}: must be wv.AtMost(limit) or wv.AtLeast(limit)"
            )
    return dict(given)


SPELT = '{"at_most": 90} or {"at_least": 0.8}, with "unit" or not (and "kernel", "noise_variance", "mean")'
FURTHER = tuple(each.name for each in fields(Constraint) if each.name != "limit")
KINDS: dict[str, type[Constraint]] = {"at_most": AtMost, "at_least": AtLeast}


def constraint_to_json(constraint: Constraint) -> dict[str, Any]:
    """How a constraint is spelt in JSON.

    >>> constraint_to_json(AtMost(90, unit="K"))
    {'at_most': 90.0, 'unit': 'K'}
    """
    return restated(encode(constraint))


def restated(component: Mapping[str, Any]) -> dict[str, Any]:
    """The same from what a state or a definition has of a constraint, which need not be read for that."""
    kind = next(name for name, cls in KINDS.items() if cls.__name__ == component["type"])
    more = {name: value for name, value in component.items() if name not in ("type", "limit")}
    return {kind: component["limit"], **more}


def constraint_from_json(value: Any, where: str = "constraint") -> Constraint:
    """The constraint that plain JSON describes.

    >>> constraint_from_json({"at_most": 90, "unit": "K"})
    AtMost(limit=90.0, unit='K', kernel=None, noise_variance=None, mean=None)
    >>> constraint_from_json({"at_most": "hot"}, "constraints.heat")
    Traceback (most recent call last):
    windvane.errors.InvalidType: constraints.heat: AtMost(limit)='hot': must be a finite number
    """
    if not isinstance(value, Mapping):
        raise InvalidType(f"{where}: must be {SPELT}")
    found = [kind for kind in KINDS if kind in value]
    if len(found) != 1 or not set(value) <= {*found, *FURTHER}:
        keys = ", ".join(map(str, value))[:100] or "nothing"
        raise InvalidArgument(f"{where}: has {keys}; must be {SPELT}")
    try:
        more = {name: decode(value[name]) for name in FURTHER if name in value}
        return KINDS[found[0]](value[found[0]], **more)
    except CorruptState as error:
        raise InvalidArgument(f"{where}: {str(error).removeprefix('state: ')}") from None
    except WindvaneError as error:
        raise type(error)(f"{where}: {error}") from None
