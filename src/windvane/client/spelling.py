"""What is sent: options and bodies as plain JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from windvane.codec import encode
from windvane.constraints import Constraint, constraint_to_json
from windvane.errors import InvalidArgument
from windvane.spelling import plain


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


def body(fields: Mapping[str, Any]) -> bytes:
    """The body of a request."""
    for name, value in fields.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidArgument(f"{name}: must be plain JSON without NaN or infinity ({error})") from None
    return json.dumps(fields, allow_nan=False, separators=(",", ":")).encode()
