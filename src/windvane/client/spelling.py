"""What is sent: spaces, points and options as plain JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from windvane.codec import encode
from windvane.constraints import Constraint, constraint_to_json
from windvane.errors import InvalidArgument
from windvane.spaces import Domain
from windvane.spelling import plain, space_to_json


def space_json(space: Domain | Mapping[str, Any]) -> Any:
    """A space as the service reads it; what is JSON already stays as it is.

    >>> from windvane.spaces import Choice, Real, Space
    >>> space_json(Space(gain=Real(0.1, 10, log=True), mode=Choice(["a", "b"])))
    {'parameters': {'gain': {'real': [0.1, 10.0], 'log': True}, 'mode': {'choice': ['a', 'b']}}}
    >>> space_json({"arms": 3})
    {'arms': 3}
    """
    if isinstance(space, Mapping):
        return dict(space)
    return space_to_json(space)


def options_json(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of an algorithm: components by their type, plain JSON as it is.

    >>> from windvane.kernels import RBF
    >>> options_json({"delta": 0.1, "kernel": RBF(0.2)})
    {'delta': 0.1, 'kernel': {'type': 'RBF', 'lengthscale': [0.2], 'variance': 1.0}}
    """
    return {name: _option(name, value) for name, value in options.items() if value is not None}


def _option(name: str, value: Any) -> Any:
    if name == "constraints" and isinstance(value, Mapping):
        return {
            str(each): constraint_to_json(one) if isinstance(one, Constraint) else one
            for each, one in value.items()
        }
    if name == "start" and isinstance(value, Sequence | np.ndarray):
        return [plain(point) for point in value]
    return value if isinstance(value, dict) else encode(value)


NULL: Any = object()  # where null means something else than nothing at all
UNSET: Any = object()  # an argument that was left out, where None means something


def expiry(expires_after: Any) -> Any:
    """`expires_after` as `body` takes it: None is never, left out is what the study says."""
    return None if expires_after is UNSET else NULL if expires_after is None else expires_after


def body(**fields: Any) -> bytes:
    """The fields that are not None, as a request's body; `NULL` is sent as null."""
    given = {name: None if value is NULL else value for name, value in fields.items() if value is not None}
    for name, value in given.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidArgument(f"{name}: must be plain JSON without NaN or infinity ({error})") from None
    return json.dumps(given, allow_nan=False, separators=(",", ":")).encode()
