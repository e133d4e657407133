"""Buffers that grow at the end and are shared by copies.

A surrogate is a value: whatever becomes of its successors, what it reads stays as it is. Yet a successor
has all of its rows but one in common with it. So both read one buffer: a row is written once, beyond the
rows that anyone reads, by whoever claims it first; a copy that comes second takes a buffer of its own.
"""

from __future__ import annotations

from threading import Lock
from typing import TypeVar

import numpy as np

from windvane.checks import Array
from windvane.data import IntArray

T = TypeVar("T")
CLAIMING = Lock()  # one for all: buffers are copied and pickled, and it is held for an instant


def twin(value: T) -> T:
    """A shallow copy, several times faster than `copy.copy`."""
    other = object.__new__(type(value))
    other.__dict__.update(value.__dict__)
    return other


class Tail:
    """Where the unwritten part of a shared buffer begins.

    >>> tail = Tail(3)
    >>> tail.claim(3), tail.claim(3)  # the first may write row 3, the second has to copy
    (True, False)
    """

    def __init__(self, written: int) -> None:
        self._written = written

    def claim(self, row: int) -> bool:
        """Whether the caller, whose last row is row - 1, may write this one."""
        with CLAIMING:
            if self._written != row:
                return False
            self._written = row + 1
            return True


class Rows:
    """Rows of numbers, oldest first: appended at the end, dropped anywhere, shared by copies.

    A dropped row stays in the buffer until there are many, weighed with 0 in sums over the rows.

    >>> rows = Rows(2)
    >>> for number in (1.0, 2.0, 3.0):
    ...     rows.append(np.full(2, number))
    >>> later = rows.copy()
    >>> later.drop(1)
    >>> later.span, later.spread(np.array([[5.0, 6.0]]))
    (array([[1., 1.],
           [2., 2.],
           [3., 3.]]), array([[5., 0., 6.]]))
    >>> len(rows), len(later)
    (3, 2)
    """

    def __init__(self, width: int, capacity: int = 16) -> None:
        self.width = width
        self._buffer = np.zeros((capacity, width))
        self._tail = Tail(0)
        self._end = 0  # the first row that was never used
        self._at: IntArray | None = None  # where the rows are, ascending; None while they are 0, 1, ...

    def __len__(self) -> int:
        return self._end if self._at is None else len(self._at)

    def copy(self) -> Rows:
        """The same rows; neither of the two notices what becomes of the other."""
        return twin(self)

    @property
    def _start(self) -> int:
        return 0 if self._at is None else int(self._at[0]) if len(self._at) else self._end

    @property
    def span(self) -> Array:
        """The buffer from the oldest row to the newest, with what was dropped in between, as a view."""
        return self._buffer[self._start : self._end]

    @property
    def array(self) -> Array:
        """The n rows."""
        return self.span if self._at is None else self._buffer[self._at]

    def spread(self, C: Array) -> Array:
        """Weights of the n rows (the last axis of C) as weights of `span`."""
        start, end = self._start, self._end
        if self._at is None or len(self._at) == end - start:
            return C
        result = np.zeros((*C.shape[:-1], end - start))
        result[..., self._at - start] = C
        return result

    def append(self, row: Array) -> None:
        """Add the newest row."""
        if self._end == len(self._buffer):
            self._pack(2 * len(self))
        end = self._end
        if not self._tail.claim(end):
            buffer = np.zeros(self._buffer.shape)  # pages that nobody writes to take no memory
            buffer[:end] = self._buffer[:end]
            self._buffer, self._tail = buffer, Tail(end + 1)
        self._buffer[end] = row
        if self._at is not None:
            self._at = np.concatenate((self._at, (end,)))
        self._end = end + 1

    def extend(self, rows: Array) -> None:
        """Add several, the newest last; to begin with, or after others, in a buffer of one's own."""
        self.room(len(rows))[:] = rows

    def room(self, count: int) -> Array:
        """The same for rows of zeros, which the caller is to write into."""
        start, end = self._end, self._end + count
        buffer = np.zeros((max(len(self._buffer), 2 * end), self.width))
        buffer[:start] = self._buffer[:start]
        if self._at is not None:
            self._at = np.concatenate((self._at, np.arange(start, end)))
        self._buffer, self._tail, self._end = buffer, Tail(end), end
        return buffer[start:end]

    def drop(self, j: int) -> None:
        """Forget the j-th oldest row."""
        at = np.arange(self._end) if self._at is None else self._at
        self._at = np.concatenate((at[:j], at[j + 1 :]))
        if self._end - self._start > 8 + 5 * len(self._at) // 4:  # sums would run over too many zeros
            self._pack(len(self._buffer))

    def _pack(self, capacity: int) -> None:
        """Move what is left to the beginning of a new buffer with room for one more row."""
        rows = self.array
        buffer = np.zeros((max(capacity, 16), self.width))
        buffer[: len(rows)] = rows
        self._buffer, self._at, self._end = buffer, None, len(rows)
        self._tail = Tail(len(rows))
