"""Finished runs in a small file that goes along with the code: of each what a leaderboard needs, no more.

A store (`store.py`) is large, stays where it was made, and forgets its runs when the code behind them
changes. Runs that take hours in all are therefore kept here too, one line of JSON per run: what was run,
R_T / T to the last bit, the steps of its resets, and a digest of the code that computed it. They are taken up
again cell by cell, a cell being an algorithm on a world. If the code is another one now, one run of the cell
is made anew: if it is the same to the last bit, the others count as well; if not, none does. On another
kind of processor the last bits differ, so that runs of earlier code are made again there; those of the
present code count wherever they were made.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from windvane.errors import StorageFailure
from windvane.experiments.code import code_digest
from windvane.experiments.measures import Result
from windvane.experiments.store import Store, fingerprint
from windvane.experiments.trial import RunSpec
from windvane.files import whole, writing

MEASURED = ("resets", "jumps")  # kept as they are
MEANS = ("regret", "violated")  # of which the mean is kept
STEPS = "steps"  # how many there were, where only a mean is left of them

Kept = dict[str, dict[str, Any]]  # by what was run
Compute = Callable[[Sequence[RunSpec]], Mapping[RunSpec, Result]]


@dataclass(frozen=True)
class EarlierRun:
    """A run that may be of other code: the digest of that code, and what has to come out again."""

    code: str
    outcome: str


@dataclass(frozen=True)
class Proven:
    """The runs that count, those that were made anew, and the cells that came out otherwise."""

    trials: tuple[RunSpec, ...]
    anew: Mapping[RunSpec, Result]
    checked: int  # cells
    changed: tuple[str, ...]


@dataclass(frozen=True)
class Adopted:
    """How many runs were taken over, and the cells that came out otherwise: of their algorithms none was."""

    runs: int
    checked: int
    changed: tuple[str, ...]


def prove(
    earlier: Mapping[RunSpec, EarlierRun],
    now: Callable[[RunSpec], str],
    outcome: Callable[[RunSpec, Result], str],
    compute: Compute,
) -> Proven:
    """Which of these runs the present code would make in the same way, by one run of each cell.

    If one cell of an algorithm comes out otherwise, it computes something else now, and what is equal in
    other cells may be so by chance, for that seed alone: then none of its runs counts. `now` is the digest of
    the present code behind a run. Runs of one cell by two versions are judged apart. Where it was not
    recorded which code made them, they may be of several versions: the first and the last are made anew.
    """
    cells: dict[tuple[str, str], list[RunSpec]] = {}
    for trial, run in earlier.items():
        cells.setdefault((_cell(trial), run.code), []).append(trial)
    probes = {
        cell: some[:1] if cell[1] else list(dict.fromkeys((some[0], some[-1])))
        for cell, some in cells.items()
        if cell[1] != now(some[0])
    }
    anew = compute([trial for some in probes.values() for trial in some]) if probes else {}
    changed = {
        cell
        for cell, some in probes.items()
        if any(outcome(trial, anew[trial]) != earlier[trial].outcome for trial in some)
    }
    void = {(trial.algorithm.name, cell[1]) for cell in changed for trial in cells[cell]}
    counted = tuple(trial for trial, run in earlier.items() if (trial.algorithm.name, run.code) not in void)
    return Proven(counted, anew, len(probes), tuple(sorted({cell for cell, _ in changed})))


def read(file: Path) -> Kept:
    """The runs of a file; none if there is no such file."""
    if not file.exists():
        return {}
    try:
        with gzip.open(file, "rt", encoding="utf-8") as stream:
            lines = [json.loads(line) for line in stream]
        return {_name(line["run"]): line for line in lines}
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise StorageFailure(
            f"{file}: cannot be read as evidence ({error}); restore it, or move it away"
        ) from error


def write(file: Path, kept: Kept) -> None:
    """Write the runs in an order of their own: the same runs give the same bytes."""
    with writing(file, "choose another place"):
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole(file) as draft, draft.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as stream:
            for name in sorted(kept):
                stream.write(json.dumps(kept[name], sort_keys=True).encode() + b"\n")


def gathered(kept: Kept, found: Mapping[RunSpec, Result]) -> Kept:
    """The runs of a file, and those that were found since, each with the code that it holds for."""
    return {**kept, **{_name(trial.plain()): _line(trial, result) for trial, result in found.items()}}


def adopt(trials: Iterable[RunSpec], kept: Kept, store: Store, compute: Compute) -> Adopted:
    """Put into the store what counts of the kept runs, for those of the trials that it does not have.

    `compute` carries out the runs that are made anew, one per cell whose code has changed.
    """
    lines = {trial: kept.get(_name(trial.plain())) for trial in dict.fromkeys(trials)}
    wanted = {trial: line for trial, line in lines.items() if line is not None}
    earlier = {
        trial: EarlierRun(wanted[trial]["code"], _name({**wanted[trial], "code": ""}))
        for trial in store.missing(wanted)
    }
    found = prove(earlier, _code, lambda trial, result: _name({**_line(trial, result), "code": ""}), compute)
    for trial in found.trials:
        if trial not in found.anew:
            store.put(trial, _result(wanted[trial]))
    store.flush()
    return Adopted(len(found.trials), found.checked, found.changed)


def adopt_older(trials: Iterable[RunSpec], store: Store, compute: Compute) -> Adopted:
    """The same for runs of other code that the store itself has; their arrays are compared whole."""
    kept = store.earlier(store.missing(trials))
    earlier = {trial: EarlierRun(code, fingerprint(result)) for trial, (code, result) in kept.items()}
    found = prove(earlier, lambda trial: trial.code, lambda _, result: fingerprint(result), compute)
    taken_over = [trial for trial in found.trials if trial not in found.anew]
    for trial in taken_over:
        code, result = kept[trial]
        store.put(trial, result, code)
    store.flush()
    return Adopted(len(taken_over), found.checked, found.changed)


def _name(run: Mapping[str, Any]) -> str:
    return json.dumps(run, sort_keys=True)


def _cell(trial: RunSpec) -> str:
    return f"{trial.algorithm} on {trial.task}" + (f", told {', '.join(trial.told)}" if trial.told else "")


def _code(trial: RunSpec) -> str:
    return code_digest(trial.task.name, trial.algorithm.name)[:16]


def _line(trial: RunSpec, result: Result) -> dict[str, Any]:
    line: dict[str, Any] = {"run": trial.plain(), "code": _code(trial)}
    line |= {name: result[name].tolist() for name in MEASURED if name in result}
    line |= {name: float(np.mean(result[name])) for name in MEANS if name in result}
    line[STEPS] = int(result[STEPS][0]) if STEPS in result else len(result["regret"])
    return line


def _result(line: Mapping[str, Any]) -> Result:
    found: Result = {name: np.array(line[name], dtype=np.int64) for name in MEASURED if name in line}
    found |= {name: np.array([line[name]]) for name in MEANS if name in line}
    return {**found, STEPS: np.array([line[STEPS]])}
