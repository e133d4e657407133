"""Components to plain JSON and back.

A component is a frozen dataclass that describes a part of an optimiser (a kernel, a trigger, a
space). `@component` registers it under its class name; `encode` writes it as
`{"type": name, ...fields}` and `decode` builds it again, so that validation runs once more.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, TypeVar

import numpy as np

from windvane.errors import CorruptState, InvalidArgument, InvalidType

_registry: dict[str, type[Any]] = {}
NOT_FINITE = {repr(value): value for value in (math.inf, -math.inf, math.nan)}  # what JSON has no numbers for
C = TypeVar("C", bound=type[Any])


IF_USED = {"if_used": True}
"""The metadata of a field that is written only if it is not its default: states without it are read."""


def component(cls: C) -> C:
    """Register a frozen dataclass so that a state can name it.

    >>> @component
    ... @dataclasses.dataclass(frozen=True)
    ... class Example:
    ...     size: int
    >>> encode(Example(3))
    {'type': 'Example', 'size': 3}
    >>> decode({'type': 'Example', 'size': 3})
    Example(size=3)
    """
    if not dataclasses.is_dataclass(cls):
        raise InvalidType(f"component({cls.__name__}): must be a dataclass")
    if any(field.name == "type" and field.init for field in dataclasses.fields(cls)):
        raise InvalidArgument(
            f"component({cls.__name__}): a field named 'type' cannot be saved, because a state has the name "
            "of the class there; give it another name"
        )
    known = _registry.get(cls.__name__)
    if known is not None and (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InvalidArgument(
            f"component({cls.__name__}): the name is taken by {known.__module__}.{known.__qualname__}"
        )
    _registry[cls.__name__] = cls
    return cls


def encode(value: Any) -> Any:
    """Plain JSON for a component, an array, or a container of them. Floats survive bit for bit."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {"dict": {str(key): encode(item) for key, item in value.items()}}
    name = type(value).__name__
    if _registry.get(name) is not type(value):
        raise InvalidType(
            f"{type(value).__qualname__} cannot be saved: decorate the class with @wv.component, "
            "so that a state can name it"
        )
    fields = {f.name: encode(getattr(value, f.name)) for f in written(value)}
    return {"type": name, **fields}


def written(value: Any) -> list[dataclasses.Field[Any]]:
    """The fields of a component that are worth writing: not those that came later and are not in use."""
    return [
        field
        for field in dataclasses.fields(value)
        if field.init and not (field.metadata.get("if_used") and getattr(value, field.name) == field.default)
    ]


def decode(value: Any) -> Any:
    """The inverse of `encode`; anything unknown or malformed is a `CorruptState`."""
    try:
        return _decode(value)
    except RecursionError:
        raise CorruptState("state: nested too deeply to be one") from None


def _decode(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list):
        return tuple(_decode(item) for item in value)
    if not isinstance(value, dict):
        raise CorruptState(f"state: {type(value).__name__} is not plain JSON")
    try:
        if "type" in value:
            fields = {key: _decode(item) for key, item in value.items() if key != "type"}
            return _registry[value["type"]](**fields)
        if "array" in value:
            return np.array(value["array"], dtype=np.float64)
        if "dict" in value:
            return {key: _decode(item) for key, item in value["dict"].items()}
        if "float" in value:
            return NOT_FINITE[value["float"]]
    except (CorruptState, RecursionError):
        raise
    except Exception as error:  # whatever a component says to fields that nobody has checked
        raise CorruptState(f"state: cannot rebuild {value.get('type', 'a value')!r}: {error}") from error
    raise CorruptState(f"state: unknown entry with keys {sorted(value)}")
