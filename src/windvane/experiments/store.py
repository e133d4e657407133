"""Finished runs on disk, so that nothing is computed twice and nothing is lost.

One SQLite file: the key of a trial -> its arrays. Only the coordinating process writes; several of
them may share a file. A run that was put is on disk within `SECONDS`, a kill costs at most that.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from windvane.errors import StorageFailure
from windvane.experiments.measures import Result
from windvane.experiments.trial import RunSpec

SECONDS = 0.5
KEPT = "finished runs are kept, free some space or choose another place, then run again"
BUSY = 30.0  # seconds to wait for another process that writes
CODE = "code"  # in the description of a kept run: the digest of the code that made it
PRINT = 16  # characters of a fingerprint
AT_ONCE = 500  # keys a query
SCHEMA = "CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, trial TEXT NOT NULL, result BLOB NOT NULL)"


class Store:
    """Results by trial.

    >>> import tempfile
    >>> from windvane.experiments.trial import call
    >>> trial = RunSpec(call("within-model"), call("gp-ucb"), seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(Path(folder) / "runs.sqlite") as store:
    ...         store.put(trial, {"regret": np.array([0.5, 0.25])})
    ...         store.find([trial])[trial]["regret"]
    array([0.5 , 0.25])
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._saved = time.monotonic()
        with self._explained():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=BUSY)
            self._database.execute(SCHEMA)
            self._database.commit()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def find(self, trials: Iterable[RunSpec]) -> dict[RunSpec, Result]:
        """The results that are there."""
        by_key = {trial.key: trial for trial in trials}
        with self._explained():
            return {by_key[key]: self._unpacked(blob) for key, blob in self._rows("result", list(by_key))}

    def missing(self, trials: Iterable[RunSpec]) -> list[RunSpec]:
        """Those whose result is not there."""
        by_key = {trial.key: trial for trial in trials}
        with self._explained():
            there = {key for key, _ in self._rows("key", list(by_key))}
        return [trial for key, trial in by_key.items() if key not in there]

    def earlier(self, trials: Iterable[RunSpec]) -> dict[RunSpec, tuple[str, Result]]:
        """The last results of other code that are there, in the order they were made, each with that code.

        The code is empty where it was not recorded.
        """
        wanted = {_described(trial): trial for trial in trials}
        if not wanted:
            return {}
        present = {trial.key for trial in wanted.values()}
        found: dict[RunSpec, tuple[str, str]] = {}
        with self._explained():
            for key, text in self._database.execute("SELECT key, trial FROM runs ORDER BY rowid"):
                plain = json.loads(text)
                code = plain.pop(CODE, "")
                trial = wanted.get(json.dumps(plain, sort_keys=True))
                if trial is not None and key not in present:
                    found.pop(trial, None)  # what is made last comes last
                    found[trial] = (code, key)
            blobs = dict(self._rows("result", [key for _, key in found.values()]))
        return {trial: (code, self._unpacked(blobs[key])) for trial, (code, key) in found.items()}

    def adopted(self, trials: Iterable[RunSpec]) -> int:
        """How many of the results that are there were made by other code, and put as that of the present."""
        by_key = {trial.key: trial for trial in trials}
        with self._explained():
            return sum(
                json.loads(text).get(CODE, by_key[key].code) != by_key[key].code
                for key, text in self._rows("trial", list(by_key))
            )

    def put(self, trial: RunSpec, result: Result, code: str | None = None) -> None:
        """Keep a result; `code` is the digest of the code that made it, unless that is the present one."""
        with self._explained():
            self._database.execute(
                "INSERT OR REPLACE INTO runs VALUES (?, ?, ?)",
                (trial.key, _described(trial, code=trial.code if code is None else code), _pack(result)),
            )
            if time.monotonic() - self._saved > SECONDS:
                self.flush()

    def flush(self) -> None:
        """Everything put so far is on disk when this returns."""
        with self._explained():
            self._database.commit()
        self._saved = time.monotonic()

    def close(self) -> None:
        """Flush and release the file."""
        try:
            self.flush()
        finally:
            self._database.close()

    def _rows(self, column: str, keys: Sequence[str]) -> Iterator[tuple[str, Any]]:
        """The keys that are there, each with what stands in a column."""
        for start in range(0, len(keys), AT_ONCE):
            some = keys[start : start + AT_ONCE]
            marks = ",".join("?" * len(some))
            yield from self._database.execute(f"SELECT key, {column} FROM runs WHERE key IN ({marks})", some)

    def _unpacked(self, blob: bytes) -> Result:
        try:
            return _unpack(blob)
        except (ValueError, TypeError) as error:
            raise StorageFailure(
                f"{self.path}: a run in it cannot be read ({error}); move the file away and run again"
            ) from error

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                hint = "finished runs are kept; free some space or choose another folder, then run again"
            else:
                hint = "the file is damaged or not ours; move it away and run again"
            raise StorageFailure(f"{self.path}: {error}; {hint}") from error
        except OSError as error:
            raise StorageFailure(f"{self.path}: {error.strerror or error}; choose another folder") from error


def _described(trial: RunSpec, **more: str) -> str:
    return json.dumps({**trial.plain(), **more}, sort_keys=True)


def fingerprint(result: Result) -> str:
    """A digest of all arrays of a result: equal if they are equal to the last bit."""
    return hashlib.sha256(_pack({name: result[name] for name in sorted(result)})).hexdigest()[:PRINT]


def _pack(result: Result) -> bytes:
    """A line of JSON with the names, types and shapes, then the bytes: much quicker than .npz to read."""
    arrays = {name: np.asarray(array) for name, array in result.items()}
    head = [[name, array.dtype.str, array.shape] for name, array in arrays.items()]
    return json.dumps(head).encode() + b"\n" + b"".join(array.tobytes() for array in arrays.values())


def _unpack(blob: bytes) -> Result:
    result: Result = {}
    start = blob.index(b"\n") + 1
    for name, kind, shape in json.loads(blob[:start]):
        count = math.prod(shape)
        flat = np.frombuffer(blob, kind, count, start) if count else np.empty(0, kind)
        result[name] = flat.reshape(shape).copy()
        start += flat.nbytes
    return result
