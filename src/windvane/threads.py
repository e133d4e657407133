"""One BLAS thread while we work on small matrices, and the caller's own setting back afterwards.

NumPy's BLAS wakes a thread a core for matrices of a few hundred rows and then waits for them; on a
busy machine a step becomes a hundred times slower. The BLAS libraries that this process has loaded
are found once, when the context is first entered; entering and leaving costs a few microseconds.
"""

from __future__ import annotations

import ctypes
import re
import sys
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import TracebackType

import numpy as np
import scipy

# (getter, setter) as exported by OpenBLAS under the prefixes and suffixes of NumPy's and SciPy's wheels
_NAMES = [
    (f"{prefix}openblas_get_num_threads{suffix}", f"{prefix}openblas_set_num_threads{suffix}")
    for prefix in ("scipy_", "")
    for suffix in ("64_", "_64", "")
]

Control = tuple[Callable[[], int], Callable[[int], None]]


def _libraries() -> list[Path]:
    """OpenBLAS files that are loaded: from the memory map where there is one, else from the wheels."""
    maps = Path("/proc/self/maps")
    if maps.exists():
        found = set(re.findall(r"(/\S*openblas\S*)$", maps.read_text(), flags=re.MULTILINE))
        return sorted(Path(name) for name in found)
    pattern = "*openblas*.dylib" if sys.platform == "darwin" else "*openblas*.dll"
    folders = [Path(str(module.__file__)).parent for module in (np, scipy)]
    return [
        file
        for folder in folders
        for place in (folder / ".dylibs", folder.with_name(f"{folder.name}.libs"))
        if place.is_dir()
        for file in sorted(place.glob(pattern))
    ]


def _controls() -> list[Control]:
    import_module("scipy.linalg.lapack")  # it brings a library of its own, which must be there to be found
    controls: list[Control] = []
    for path in _libraries():
        try:
            library = ctypes.CDLL(str(path))
        except OSError:
            continue
        for getter, setter in _NAMES:
            if hasattr(library, getter) and hasattr(library, setter):
                get, put = getattr(library, getter), getattr(library, setter)
                get.restype, put.argtypes, put.restype = ctypes.c_int, (ctypes.c_int,), None
                controls.append((get, put))
                break
    return controls


class OneThread:
    """Limits BLAS to one thread while anybody holds it, and restores what was set when nobody does.

    >>> with one_thread.hold():
    ...     [get() for get, _ in one_thread.controls] == [1] * len(one_thread.controls)
    True
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._holders: set[int] = set()
        self._before: list[int] = []

    @cached_property
    def controls(self) -> list[Control]:
        """The getter and setter of each library's number of threads."""
        return _controls()

    def hold(self) -> Hold:
        """A context in which there is one thread."""
        return Hold(self)

    def enter(self, holder: int) -> None:
        """Count one more holder; what was set is known before anything is."""
        with self._lock:
            first = not self._holders
            if first:
                self._before = [get() for get, _ in self.controls]
            self._holders.add(holder)
            if first:
                self._set([1] * len(self._before))

    def leave(self, holder: int) -> None:
        """Count one fewer, once; the last one restores."""
        with self._lock:
            if self._holders == {holder}:
                self._set(self._before)
            self._holders.discard(holder)

    def _set(self, counts: list[int]) -> None:
        for before, count, (_, put) in zip(self._before, counts, self.controls, strict=True):
            if before != 1:
                put(count)


class Hold(AbstractContextManager[None]):
    """One holder. It leaves when the context ends, or when it is gone: an interrupt can skip the end."""

    def __init__(self, guard: OneThread) -> None:
        self._guard = guard

    def __enter__(self) -> None:
        self._guard.enter(id(self))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._guard.leave(id(self))

    def __del__(self) -> None:
        if hasattr(self, "_guard"):  # else it was interrupted before it held anything
            self._guard.leave(id(self))


one_thread = OneThread()
