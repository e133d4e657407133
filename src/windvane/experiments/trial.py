"""A trial: one run of one algorithm on one task, described so that it can be named, sent and kept.

Everything a result depends on is in the description: task, algorithm, what is measured, the seed,
the content of the files it reads and the code that computes it. Its `key` is a digest of all that, so a kept
result is used again exactly when it would come out the same.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from windvane.codec import encode
from windvane.errors import InvalidArgument
from windvane.experiments.code import code_digest, observed_digest

SHOWN = 16  # characters of a digest of code
TOLD = ("kernel", "noise_variance")


@dataclass(frozen=True)
class Call:
    """A name and its options, such as a task or an algorithm; made by `call`."""

    name: str
    options: tuple[tuple[str, Any], ...] = ()

    def keywords(self) -> dict[str, Any]:
        """The options, to be passed on."""
        return dict(self.options)

    def plain(self) -> dict[str, Any]:
        """As JSON; a path stands for the content of its file."""
        return {"name": self.name, **{option: _plain(value) for option, value in self.options}}

    def __str__(self) -> str:
        shown = ", ".join(
            f"{option}={str(value) if isinstance(value, Path) else value!r}" for option, value in self.options
        )
        return f"{self.name}({shown})"


def call(name: str, **options: Any) -> Call:
    """A name with its options.

    >>> str(call("within-model", rate=0.03))
    'within-model(rate=0.03)'
    """
    return Call(name, tuple(sorted((key, _frozen(value)) for key, value in options.items())))


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list | tuple) else value


def _plain(value: Any) -> Any:
    return {"content": content_digest(value)} if isinstance(value, Path) else encode(value)


def content_digest(path: Path) -> str:
    """A digest of a file, or of the names and files of a folder."""
    try:
        moment = [(file, file.stat().st_mtime_ns, file.stat().st_size) for file in _files(path)]
    except OSError as error:
        raise InvalidArgument(f"{path}: cannot be read ({error.strerror})") from None
    if not moment:
        raise InvalidArgument(f"{path}: there is no such file, or the folder is empty")
    return _digest_of(tuple(moment))


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for file in path.iterdir() if file.is_file())
    return [path] if path.exists() else []


@lru_cache(maxsize=64)
def _digest_of(files: tuple[tuple[Path, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for file, _, size in files:
        digest.update(f"{file.name}\0{size}\0".encode())
        with file.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


REGRET = Call("regret")
COMMON = ("regret", "alarms")  # the measures of `measures.py`; the others are in `observed.py`


@dataclass(frozen=True)
class RunSpec:
    """One run. The seed draws the objective, the noise and the algorithm's own choices."""

    task: Call
    algorithm: Call
    seed: int
    told: tuple[str, ...] = TOLD  # what the algorithm is told of the task beside its own options
    measure: Call = REGRET

    def plain(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "task": self.task.plain(),
            "algorithm": self.algorithm.plain(),
            "seed": self.seed,
            "told": list(self.told),
            "measure": self.measure.plain(),
        }

    @property
    def code(self) -> str:
        """A digest of the code that computes it, and of nothing else."""
        return digest_of_code(self.task.name, self.algorithm.name, self.measure.name)

    @property
    def key(self) -> str:
        """A digest of everything the result depends on.

        >>> first = RunSpec(call("within-model", rate=0.03), call("gp-ucb"), seed=0)
        >>> again = RunSpec(call("within-model", rate=0.03), call("gp-ucb"), seed=0)
        >>> other = RunSpec(call("within-model", rate=0.05), call("gp-ucb"), seed=0)
        >>> first.key == again.key, first.key == other.key
        (True, False)
        """
        parts = {**self.plain(), **code_behind(self.task.name, self.algorithm.name, self.measure.name)}
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]

    def __str__(self) -> str:
        return f"{self.algorithm} on {self.task}, seed {self.seed}"


def code_behind(task: str, algorithm: str, measure: str) -> dict[str, str]:
    """Digests of the code that a run depends on, by the names of what it is made of."""
    parts = {"code": code_digest(task, algorithm), "own": own_digest(algorithm)}
    if measure not in COMMON:
        parts["observed"] = observed_digest()
    return parts


def digest_of_code(task: str, algorithm: str, measure: str) -> str:
    """The digests of `code_behind` in one."""
    behind = json.dumps(code_behind(task, algorithm, measure), sort_keys=True)
    return hashlib.sha256(behind.encode()).hexdigest()[:SHOWN]


@lru_cache(maxsize=32)
def own_digest(name: str) -> str:
    """For an algorithm given as module:function, a digest of the module's file; else empty."""
    if ":" not in name:
        return ""
    try:
        found = importlib.util.find_spec(name.split(":")[0])
    except (ImportError, ValueError):
        found = None
    if found is None or found.origin is None or not Path(found.origin).is_file():
        return ""
    return hashlib.sha256(Path(found.origin).read_bytes()).hexdigest()
