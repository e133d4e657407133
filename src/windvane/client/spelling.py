"""What is sent: spaces, points and options as plain JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from windvane.codec import encode
from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces import Arms, Box, Choice, Domain, Integer, Parameter, Real, Space


def space_json(space: Domain | Mapping[str, Any]) -> Any:
    """A space as the service reads it; what is JSON already stays as it is.

    >>> space_json(Space(gain=Real(0.1, 10, log=True), mode=Choice(["a", "b"])))
    {'parameters': {'gain': {'real': [0.1, 10.0], 'log': True}, 'mode': {'choice': ['a', 'b']}}}
    >>> space_json({"arms": 3})
    {'arms': 3}
    """
    if isinstance(space, Mapping):
        return dict(space)
    if isinstance(space, Box):
        return {"box": [list(pair) for pair in space.bounds]}
    if isinstance(space, Arms):
        return {"arms": space.n}
    if isinstance(space, Space):
        return {"parameters": {name: _parameter(each) for name, each in space.parameters}}
    raise InvalidType(f"space={space!r}: must be a Box, Arms, a Space or the JSON of one")


def _parameter(parameter: Parameter) -> dict[str, Any]:
    if isinstance(parameter, Choice):
        return {"choice": list(parameter.options)}
    if not isinstance(parameter, Real | Integer):
        raise InvalidType(
            f"space: {parameter!r} cannot be sent; a parameter is a Real, an Integer or a Choice"
        )
    kind = "real" if isinstance(parameter, Real) else "integer"
    return {kind: [parameter.lo, parameter.hi], "log": parameter.log}


def options_json(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of an algorithm: components by their type, plain JSON as it is.

    >>> from windvane.kernels import RBF
    >>> options_json({"delta": 0.1, "kernel": RBF(0.2)})
    {'delta': 0.1, 'kernel': {'type': 'RBF', 'lengthscale': [0.2], 'variance': 1.0}}
    """
    return {
        name: value if isinstance(value, dict) else encode(value)
        for name, value in options.items()
        if value is not None
    }


def plain(value: Any) -> Any:
    """A point, or several: arrays become lists, and NumPy's numbers Python's.

    >>> plain({"gain": np.float64(0.5), "taps": [np.int64(3)]})
    {'gain': 0.5, 'taps': [3]}
    """
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def body(**fields: Any) -> bytes:
    """The fields that are not None, as a request's body."""
    given = {name: value for name, value in fields.items() if value is not None}
    for name, value in given.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidArgument(f"{name}: must be plain JSON without NaN or infinity ({error})") from None
    return json.dumps(given, allow_nan=False, separators=(",", ":")).encode()
