"""Finished runs on disk, so that nothing is computed twice and nothing is lost.

One SQLite file: the key of a trial -> its arrays. Only the coordinating process writes; several of
them may share a file. A run that was put is on disk within `SECONDS`, a kill costs at most that.
"""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from windvane.errors import StorageFailure
from windvane.experiments.measures import Result
from windvane.experiments.trial import RunSpec

SECONDS = 0.5
BUSY = 30.0  # seconds to wait for another process that writes
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
        keys = list(by_key)
        found: dict[RunSpec, Result] = {}
        with self._explained():
            for start in range(0, len(keys), AT_ONCE):
                some = keys[start : start + AT_ONCE]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, result FROM runs WHERE key IN ({marks})"
                for key, blob in self._database.execute(query, some):
                    found[by_key[key]] = self._unpacked(blob)
        return found

    def put(self, trial: RunSpec, result: Result) -> None:
        """Keep a result."""
        with self._explained():
            self._database.execute(
                "INSERT OR REPLACE INTO runs VALUES (?, ?, ?)",
                (trial.key, json.dumps(trial.plain(), sort_keys=True), _pack(result)),
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
