"""Optional packages, imported through one door that says which extra to install."""

from __future__ import annotations

import importlib
from typing import Any

from windvane.errors import MissingExtra


def require(module: str, extra: str) -> Any:
    """Import an optional module, or say how to get it.

    >>> require("no_such_package", "demo")
    Traceback (most recent call last):
    windvane.errors.MissingExtra: this needs no_such_package: pip install 'windvane[demo]' ...
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        top = (error.name or module).split(".")[0]  # what is missing may be what the module imports
        hint = f"pip install 'windvane[{extra}]' (in a clone: '.[{extra}]')"
        raise MissingExtra(f"this needs {top}: {hint}") from None
