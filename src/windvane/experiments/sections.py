"""Sections of a page that are kept beside it, so that they need not be computed again, here or elsewhere.

PAGE's folder/evidence/reproduction/NAME.json    what the page says of an experiment, and what that depends on
PAGE's folder/images/reproduction/NAME.png       its figure

A section counts as long as its cells are planned as they were and computed by the same code. Where the code
is another one now, the first run of each cell concerned is made anew: if all are the same to the last bit,
the section counts for the present code as well, and says so.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from windvane.experiments.evidence import Compute, EarlierRun, prove
from windvane.experiments.experiment import Cell, trials_of
from windvane.experiments.reproduce import ExperimentSummary, first_runs, planned, section_stamp
from windvane.experiments.store import fingerprint


class Sections:
    """Those of a page."""

    def __init__(self, page: Path) -> None:
        self.folder = page.parent / "evidence" / "reproduction"
        self.images = page.parent / "images" / "reproduction"

    def make(self) -> None:
        """The folders."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.images.mkdir(parents=True, exist_ok=True)

    def find(self, name: str) -> ExperimentSummary | None:
        """The section of that name, if it is kept with its figure."""
        file = self.folder / f"{name}.json"
        there = file.is_file() and (self.images / f"{name}.png").is_file()
        return ExperimentSummary.read(file) if there else None

    def all(self, order: Iterable[str]) -> list[ExperimentSummary]:
        """Those that are kept, in the given order."""
        return [found for name in order if (found := self.find(name)) is not None]

    def keep(self, summary: ExperimentSummary, out: Path) -> None:
        """Put a section here that was published in `out`; the figure first, as the other is looked for."""
        self.make()
        shutil.copyfile(out / summary.name / "figure.png", self.images / f"{summary.name}.png")
        self.write(summary)

    def write(self, summary: ExperimentSummary) -> None:
        """A section whose figure is here."""
        summary.write(self.folder / f"{summary.name}.json")

    def hand_out(self, summary: ExperimentSummary, out: Path) -> None:
        """The other way round, for the report of `out`, unless it has one of its own."""
        folder = out / summary.name
        if (folder / "summary.json").exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.images / f"{summary.name}.png", folder / "figure.png")
        summary.write(folder / "summary.json")


def short(summary: ExperimentSummary, runs: int, cells: Iterable[Cell] | None, first: int = 0) -> str:
    """Why a kept section is not what was asked for, whatever its code; nothing if it is.

    Without the cells, of which some need data that may not be there, only the number of runs counts.
    """
    if cells is not None and summary.plan != planned(cells, first):
        return "its cells, seeds or data were others"
    return f"it has {summary.runs} of {runs} runs per cell" if summary.runs < runs else ""


def outdated(summary: ExperimentSummary) -> str:
    """Which part of a section is of other code than the present one; nothing if none is."""
    changed = [cell for cell in summary.cells if not cell.current]
    if not changed:
        return "" if summary.cells else "no record of the code that computed it"
    names = ", ".join(sorted({cell.algorithm for cell in changed}))
    return f"{len(changed)} of {len(summary.cells)} cells are of other code ({names})"


def renewed(
    summary: ExperimentSummary, cells: list[Cell], first: int, compute: Compute
) -> tuple[ExperimentSummary | None, str]:
    """A section that is planned as before, for the present code; or None, and why not."""
    trials = first_runs(cells, first)
    earlier = {
        trial: EarlierRun(cell.code, cell.first)
        for trial, cell in zip(trials, summary.cells, strict=True)
        if not cell.current
    }
    found = prove(earlier, lambda trial: trial.code, lambda _, result: fingerprint(result), compute)
    if found.changed:
        return None, f"with the present code other figures come out: {'; '.join(found.changed)}"
    if not earlier:
        return summary, ""
    records = tuple(replace(cell, code=trial.code) for trial, cell in zip(trials, summary.cells, strict=True))
    concerned = [cell for cell in cells if cell.trials(range(first, first + 1))[0] in earlier]
    runs = len(trials_of(concerned, range(first, first + summary.runs)))
    older = max(summary.earlier, runs)
    return replace(summary, stamp=section_stamp(records), cells=records, earlier=older), ""
