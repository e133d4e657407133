"""Tasks: objectives that change over time, each with its optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from windvane.checks import one_of
from windvane.errors import InvalidArgument
from windvane.tasks.base import Optimum, Task
from windvane.tasks.within_model import WithinModel


@dataclass(frozen=True)
class Entry:
    """A line of help and how the task is made."""

    summary: str
    make: Callable[..., Task]
    options: tuple[str, ...]


TASKS: dict[str, Entry] = {
    "within-model": Entry(
        "a sample of the Markov chain of Assumption 2 on the unit square (Section 6.2.1)",
        WithinModel,
        ("rate", "horizon", "seed", "lengthscale", "noise_variance", "dim", "grid"),
    ),
}


def tasks() -> list[str]:
    """The names that `task` knows.

    >>> tasks()
    ['within-model']
    """
    return list(TASKS)


def task(name: str, **options: Any) -> Task:
    """A task by name.

    >>> task("within-model", rate=0.03, horizon=50, seed=0).horizon
    50
    """
    entry = TASKS[one_of("name", name, TASKS)]
    unknown = sorted(set(options) - set(entry.options))
    if unknown:
        raise InvalidArgument(
            f"task({name!r}): does not use {unknown[0]}=; its options are {', '.join(sorted(entry.options))}"
        )
    return entry.make(**options)


__all__ = ["TASKS", "Entry", "Optimum", "Task", "WithinModel", "task", "tasks"]
