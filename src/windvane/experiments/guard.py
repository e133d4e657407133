"""A researcher's own algorithm, watched: whatever goes wrong in it is told in one sentence.

An exception of a foreign class need not survive the way from a worker to the coordinator, and its
traceback would be one of a process pool. So it is put into words where it happens.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from windvane.errors import AlgorithmFailed, WindvaneError
from windvane.spaces.base import Domain

INSIDE = str(Path(__file__).resolve().parents[1])  # the package itself


class Guarded:
    """An optimiser with ask() and tell(x, y); errors say which of the two failed, how and where.

    >>> from windvane.spaces import Box
    >>> class Lost:
    ...     def ask(self):
    ...         return [2.0]
    ...     def tell(self, x, y):
    ...         pass
    >>> Guarded("mine:lost", Lost(), Box([(0, 1)])).ask()
    Traceback (most recent call last):
    windvane.errors.AlgorithmFailed: mine:lost: ask() returned [2.0], which is not in Box(...): x[0]=2.0: ...
    """

    def __init__(self, name: str, optimizer: Any, space: Domain) -> None:
        missing = [part for part in ("ask", "tell") if not callable(getattr(optimizer, part, None))]
        if missing or isinstance(optimizer, type):
            raise AlgorithmFailed(
                f"{name}: returned {optimizer!r}, which must be an object with ask() and tell(x, y)"
            )
        if getattr(optimizer, "goal", "maximize") != "maximize":
            raise AlgorithmFailed(f"{name}: minimises, but tasks are to be maximised")
        self._name, self._optimizer, self._space = name, optimizer, space

    def ask(self, **given: Any) -> Any:
        """The next point, under a context if there is one; it must be in the space."""
        with explained(self._name, "ask()"):
            x = self._optimizer.ask(**given)
        try:
            self._space.encode(x)
        except WindvaneError as error:
            raise AlgorithmFailed(
                f"{self._name}: ask() returned {x!r}, which is not in {self._space}: {error}"
            ) from None
        return x

    @property
    def constraints(self) -> Any:
        """Those that it says it has: it is told their outcomes."""
        return getattr(self._optimizer, "constraints", None)

    def tell(self, x: Any, y: float, **outcomes: float) -> Any:
        """Whatever it answers."""
        with explained(self._name, "tell(x, y)"):
            return self._optimizer.tell(x, y, **outcomes)


@contextmanager
def explained(name: str, what: str) -> Iterator[None]:
    """Any exception as an `AlgorithmFailed` of one line; the whole traceback is a note of it."""
    try:
        yield
    except (Exception, SystemExit) as error:
        said = f": {error}" if str(error) else ""
        failed = AlgorithmFailed(f"{name}: {what} raised {type(error).__name__}{said}{_where(error)}")
        failed.traceback = traceback.format_exc()
        raise failed from None


def _where(error: BaseException) -> str:
    """The last line of the traceback that is neither ours nor of a library the algorithm called."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(INSIDE) and "site-packages" not in frame.filename
    ]
    return f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
