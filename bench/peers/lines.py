"""Runs as lines of JSON in one file: what is there is not made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

Row = dict[str, Any]


class Lines:
    """A file of rows, each known by some of its fields.

    A line that was cut short, because the run was killed while it wrote, is left out and made again.
    """

    def __init__(self, file: Path, fields: tuple[str, ...]) -> None:
        self.file, self.fields = file, fields
        self.rows: dict[Hashable, Row] = {}
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        self._cut = bool(text) and not text.endswith("\n")
        for line in text.splitlines():
            try:
                row = json.loads(line)
            except json.JSONDecodeError:
                continue
            self.rows[self.key(row)] = row

    def key(self, row: Row) -> Hashable:
        return tuple(row[field] for field in self.fields)

    def add(self, row: Row) -> None:
        """Keep a row, on disk at once."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with self.file.open("a", encoding="utf-8") as out:
            out.write(("\n" if self._cut else "") + json.dumps(row) + "\n")
        self._cut = False
        self.rows[self.key(row)] = row

    def forget(self, unwanted: Callable[[Row], bool]) -> None:
        """Drop rows, on disk as well; the file is as it was until the new one is whole."""
        self.rows = {key: row for key, row in self.rows.items() if not unwanted(row)}
        if self.file.exists():
            draft = self.file.with_suffix(".part")
            draft.write_text("".join(json.dumps(row) + "\n" for row in self.rows.values()), encoding="utf-8")
            draft.replace(self.file)
            self._cut = False

    def missing(self, jobs: Iterable[Row]) -> list[Row]:
        """Those of the jobs, in their order, for which there is no row."""
        return [job for job in jobs if self.key(job) not in self.rows]

    def of(self, jobs: Iterable[Row]) -> list[Row]:
        """The rows of these jobs that are there."""
        return [self.rows[key] for job in jobs if (key := self.key(job)) in self.rows]
