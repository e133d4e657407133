"""Modules that are slow to import, imported when they are first used.

SciPy's parts take longer to import than NumPy and all of Windvane (docs/decisions/0022-import.md), and a
program that only builds a space, or talks to a service, never needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Late:
    """A module by name, imported with its first attribute; later uses cost what an attribute costs.

    >>> special = Late("scipy.special")
    >>> float(special.ndtr(0.0))
    0.5
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what tools look for in any object must not import anything
            raise AttributeError(name)
        value = getattr(import_module(self._module), name)
        setattr(self, name, value)
        return value


blas = Late("scipy.linalg.blas")
lapack = Late("scipy.linalg.lapack")
linalg = Late("scipy.linalg")
optimize = Late("scipy.optimize")
special = Late("scipy.special")
stats = Late("scipy.stats")
qmc = Late("scipy.stats.qmc")
