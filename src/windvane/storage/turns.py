"""Whose turn it is to make a step of a study, among threads and processes: a courtesy, not a safeguard.

Two that compute the next step of one study at once do each other's work again, since one of them will be too
late. So whoever makes a step takes a place in the study's queue, and waits until those before are gone. What
is written does not depend on it: a step counts only if the journal has not grown meanwhile. Where there can
be no queue (a file system without locks), or nobody in it moves, steps are made without.

A place in the queue is a lock on one byte of an empty file beside the database. Locks of open file
descriptions belong to whoever opened the file, also among the threads of one process, and the operating
system takes them back when a process dies.
"""

from __future__ import annotations

import os
import stat
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

try:
    import fcntl

    SET, GET = fcntl.F_OFD_SETLK, fcntl.F_OFD_GETLK
except (ImportError, AttributeError):  # pragma: no cover  # not Linux: no queue
    fcntl = None  # type: ignore[assignment]

KEYS = "CAST(CAST('windvane_studies' AS regclass) AS oid)::int, :study"  # of PostgreSQL's advisory lock
PATIENCE = 60.0  # seconds in which nobody before moves
SOON, LATER = 0.0005, 0.01  # seconds between two looks, at first and in the end
PLACES = 1 << 30  # of a study, before it must have been empty once
FLOCK = struct.Struct("@hhqqi4x")  # type, whence, start, length, process
Result = TypeVar("Result")
_open: set[int] = set()  # handles of steps under way in this process


def in_turn(database: Path, study: int, act: Callable[[], Result]) -> Result:
    """Act when all who came before have made their steps of this study."""
    try:
        handle = _opened(database)
    except OSError:
        return act()
    try:
        _open.add(handle)
        _wait(handle, study, PATIENCE)
        return act()
    finally:
        if handle in _open:  # else this is a process that was forked inside, which has none
            try:
                _open.discard(handle)
                _lock(handle, fcntl.F_UNLCK, 0, 0)  # a process forked meanwhile may have the handle still
            except OSError:
                pass
            finally:
                os.close(handle)


def queue_file(database: Path) -> Path:
    """The file whose bytes are locked; there is nothing in it."""
    return database.with_name(f"{database.name}-turns")


def _opened(database: Path) -> int:
    """A handle of its own on the file, which whoever may use the database may use."""
    if fcntl is None:  # pragma: no cover
        raise OSError("there are no locks of this kind here")
    path, flags = queue_file(database), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(path, flags)
    except FileNotFoundError:
        mode = stat.S_IMODE(database.stat().st_mode)
    try:
        handle = os.open(path, flags | os.O_CREAT | os.O_EXCL, mode)
    except FileExistsError:
        return os.open(path, flags)
    with suppress(OSError):
        os.fchmod(handle, mode)
    return handle


def _wait(handle: int, study: int, patience: float) -> None:
    """Take the place after the last one, and wait until nobody is before it; not for ever."""
    try:
        deadline = time.monotonic() + patience
        while not _try(handle, study):  # others are choosing their places: an instant
            if time.monotonic() > deadline:
                return
            time.sleep(SOON)
        first, place = (study + 1) * PLACES, (study + 1) * PLACES
        while (taken := _held(handle, place, first + PLACES - place)) is not None:
            place = taken[0] + taken[1]
            if place >= first + PLACES:
                break
        else:
            _lock(handle, fcntl.F_WRLCK, place, 1)
        _lock(handle, fcntl.F_UNLCK, study, 1)
        began, seen = time.monotonic(), None
        while place > first and (before := _held(handle, first, place - first)) is not None:
            now = time.monotonic()
            if before != seen:
                seen, deadline = before, now + patience
            elif now > deadline:
                return
            time.sleep(min(LATER, max(SOON, (now - began) / 20)))
    except OSError:
        return


def _try(handle: int, study: int) -> bool:
    try:
        _lock(handle, fcntl.F_WRLCK, study, 1)
    except (BlockingIOError, PermissionError):
        return False
    return True


def _lock(handle: int, kind: int, start: int, length: int) -> None:
    fcntl.fcntl(handle, SET, FLOCK.pack(kind, os.SEEK_SET, start, length, 0))


def _held(handle: int, start: int, length: int) -> tuple[int, int] | None:
    """Where somebody else has a lock in this range, and how long it is."""
    asked = FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
    kind, _, at, size, _ = FLOCK.unpack(fcntl.fcntl(handle, GET, asked))
    return None if kind == fcntl.F_UNLCK else (at, size)


def _forked() -> None:
    """A new process has no step under way."""
    for handle in _open:
        os.close(handle)
    _open.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
