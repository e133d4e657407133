"""The code that a run depends on, as a digest: a kept result counts as long as it stays the same.

What counts is what Python makes of a file, its syntax tree without docstrings: comments, line breaks and
descriptions change nothing. Every file of the package counts unless it is listed here as one that
arranges, keeps or shows, so a new file counts until somebody has thought about it.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
from collections.abc import Iterable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import windvane
from windvane.algorithms import ALGORITHMS
from windvane.tasks import TASKS

NO_INFLUENCE = (  # on a run: what lies above it, and what only shows it
    "__init__.py",
    "__main__.py",
    "calibration",
    "cli",
    "client",
    "digits.py",
    "entries.py",
    "experiments",
    "extras.py",
    "files.py",
    "hypothesis_names.py",
    "integrations",
    "notebook.py",
    "older.py",
    "plots",
    "protocol",
    "replay",
    "service",
    "spelling.py",
    "storage",
    "study",
    "testing",
)
BUT = ("experiments/guard.py", "experiments/measures.py")
OBSERVED = "experiments/observed.py"
MIXTURES = ("auto",)  # the algorithms whose model is a mixture of hypotheses
MIXTURE = ("options/auto_model.py", "surrogates/mixture/")  # what only they run
TASK = "tasks/"  # where each task has a file, which may build on others there
TABLE = "tasks/__init__.py"  # of tasks: of its entries only that of the task counts
ALWAYS = "tasks/base.py"
LIBRARIES = ("numpy", "scipy")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@lru_cache(maxsize=512)
def code_digest(task: str | None = None, algorithm: str | None = None) -> str:
    """A digest of the code behind a run of that algorithm on that task, and of the libraries below it.

    Without names, or where they are not Windvane's own, everything counts that can.
    """
    lines = [f"{library} {importlib.metadata.version(library)}" for library in LIBRARIES]
    for place in files(task, algorithm):
        functions, rest = _code(root())[place]
        if place == TABLE and _narrow(task, algorithm):
            rest = _made_by(TASKS[str(task)].make)
        lines += [place, functions, rest]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@lru_cache(maxsize=32)
def source_digest(*also: str) -> str:
    """A digest of the same code without the libraries, and of other parts of the package.

    For measurements that are made in environments of their own, of which some look at what lies above a run.

    >>> source_digest() == source_digest("service")
    False
    """
    lines = [text for place, parts in _code(root()).items() for text in (place, *parts)]
    for part in also:
        folder = root() / part
        for file in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            lines += [file.relative_to(root()).as_posix(), *meaning(file.read_bytes())]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@lru_cache(maxsize=1)
def observed_digest() -> str:
    """A digest of the code behind measures that few runs have: it counts for these alone."""
    text = "\n".join(meaning((root() / OBSERVED).read_bytes()))
    return hashlib.sha256(text.encode()).hexdigest()


def files(task: str | None = None, algorithm: str | None = None) -> list[str]:
    """The files behind a run, as they are called within the package.

    An algorithm that is no mixture does not depend on how mixtures are computed, nor a task on the files
    of others. An algorithm of one's own may call whatever it likes.

    >>> [file for file in files("seasonal", "gp-ucb") if file.startswith("tasks/s")]
    ['tasks/seasonal.py']
    """
    counted = list(_code(root()))
    if algorithm in ALGORITHMS and algorithm not in MIXTURES:
        counted = [place for place in counted if not place.startswith(MIXTURE)]
    if _narrow(task, algorithm):
        own = {TABLE, *task_files(str(task))}
        counted = [place for place in counted if place in own or not place.startswith(TASK)]
    return counted


def _narrow(task: str | None, algorithm: str | None) -> bool:
    """Whether nothing but the files of that task can matter of all tasks."""
    return task in TASKS and algorithm in ALGORITHMS


def root() -> Path:
    """The folder of the package."""
    return Path(windvane.__file__).parent


def task_files(task: str) -> set[str]:
    """The file that a task is made in, and those of its package that are imported there, and so on."""
    made = TASKS[task].make
    module = (made.func if isinstance(made, partial) else made).__module__
    found: set[str] = set()
    waiting = [ALWAYS, _place(module)]
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += imported(root() / place)
    return found


def imported(file: Path) -> list[str]:
    """The files of `tasks/` that a file imports; all of them if it imports the package itself."""
    modules = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            modules.append(node.module)
        elif isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
    if "windvane.tasks" in modules:
        return [place for place in _code(root()) if place.startswith(TASK)]
    return [_place(module) for module in modules if module.startswith("windvane.tasks.")]


def _place(module: str) -> str:
    """`windvane.tasks.jumps` -> `tasks/jumps.py`."""
    return module.removeprefix("windvane.").replace(".", "/") + ".py"


def _made_by(made: Any) -> str:
    """How a task is made: the function, and what it is always given."""
    if isinstance(made, partial):
        return f"{_made_by(made.func)} {made.args!r} {sorted(made.keywords.items())!r}"
    return f"{made.__module__}.{made.__qualname__}"


@lru_cache(maxsize=4)
def _code(package: Path) -> dict[str, tuple[str, str]]:
    """By file: its functions and classes, and the rest of it, as text."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        place = file.relative_to(package)
        if place.parts[0] not in NO_INFLUENCE or place.as_posix() in BUT:
            found[place.as_posix()] = meaning(file.read_bytes())
    return found


@lru_cache(maxsize=1024)
def meaning(source: bytes) -> tuple[str, str]:
    """The syntax tree without docstrings, as text: of the functions and classes, and of the rest.

    >>> one = meaning(b'def f(x):\\n    return x + 1  # a comment')
    >>> two = meaning(b'def f(x):\\n    "Documented."\\n    return (x + 1)')
    >>> one == two, one == meaning(b'def f(x):\\n    return x + 2')
    (True, False)
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    defined = [node for node in tree.body if isinstance(node, DOCUMENTED)]
    return _dump(defined), _dump(node for node in tree.body if node not in defined)


def _dump(nodes: Iterable[ast.AST]) -> str:
    return "\n".join(ast.dump(node) for node in nodes)
