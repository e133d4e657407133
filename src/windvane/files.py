"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A place beside `path` to write to; it becomes `path` at the end, so nobody ever sees half a file.

    What is there and is no regular file, such as a pipe, is written to directly.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = Path(folder) / "page.txt"
    ...     with whole(page) as draft:
    ...         _ = draft.write_text("all of it")
    ...     page.read_text(), [file.name for file in Path(folder).iterdir()]
    ('all of it', ['page.txt'])
    """
    if path.exists() and not path.is_file():
        yield path
        return
    draft = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """The file with this text, in UTF-8."""
    with whole(path) as draft:
        draft.write_text(text, encoding="utf-8")
