"""Files that are written whole or not at all."""

from __future__ import annotations

import csv
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from windvane.errors import StorageFailure


@contextmanager
def whole(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A place beside `path` to write to; it becomes `path` at the end, so nobody ever sees half a file.

    A file that is there keeps its mode, and a link stays one: what it leads to is written. What is there and
    is no regular file, such as a pipe, is written to directly. A `private` one is its owner's alone, from
    the first byte on.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "page.txt"
    ...     with whole(page) as draft:
    ...         _ = draft.write_text("all of it")
    ...     page.read_text(), [file.name for file in Path(folder).iterdir()]
    ('all of it', ['page.txt'])
    """
    mode = None
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
    if mode is not None and not stat.S_ISREG(mode):
        yield path
        return
    target = Path(os.path.realpath(path))
    draft = target.with_name(f".{os.getpid()}-{target.name}")
    try:
        if private:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield draft
        if mode is not None:
            draft.chmod(stat.S_IMODE(mode))
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """The file with this text, in UTF-8."""
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")


def write_csv(path: Path, rows: Iterable[Iterable[object]]) -> None:
    """The file with these rows, of which the first has the names of the columns."""
    with whole(path) as draft, draft.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


@contextmanager
def writing(where: object, advice: str, *, inside: bool = False) -> Iterator[None]:
    """What the system says against writing here, as an error of our own, with advice.

    If `where` is a folder and the file `inside` it matters, that is named where the system names it.
    """
    try:
        yield
    except StorageFailure:
        raise
    except OSError as error:
        place = error.filename if inside and error.filename else where
        raise StorageFailure(f"{place}: {error.strerror or error}; {advice}") from error
