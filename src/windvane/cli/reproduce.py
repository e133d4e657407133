"""`windvane reproduce`: the paper's tables and figures, from one command."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from windvane.checks import one_of
from windvane.cli import running
from windvane.cli.running import EXTRA
from windvane.cli.tables import draw
from windvane.cli.verbs import VerbParser
from windvane.digits import counted
from windvane.errors import InvalidArgument, StorageFailure, WindvaneError
from windvane.experiments import evidence
from windvane.experiments.executors import Workers
from windvane.experiments.experiment import Cell, Experiment, Setting, trials_of
from windvane.experiments.measures import Result
from windvane.experiments.paper import EXPERIMENTS
from windvane.experiments.report import VERDICTS, counts, origin, size, write_html, write_markdown
from windvane.experiments.reproduce import ExperimentSummary, publish, summaries
from windvane.experiments.sections import Sections, renewed, short
from windvane.experiments.store import Store
from windvane.experiments.trial import RunSpec
from windvane.extras import require
from windvane.files import writing
from windvane.tasks import task


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    names = "\n".join(f"  {e.name:<16} {e.source}: {e.title}" for e in EXPERIMENTS.values())
    verb.described(
        (
            "Runs the paper's experiments and writes, for each, its records (Parquet), table,\n"
            "figure and a verdict on every claim, and one report.html with everything.\n\n"
            "Interrupt it whenever you like: finished runs are kept in OUT/runs.sqlite, and the same\n"
            "command continues where it stopped. More runs later only add what is missing. What takes\n"
            "little time comes first; the report has the order of the paper.\n\n"
            "With --markdown, finished sections are kept beside the page, in evidence/reproduction. One\n"
            "with enough runs is not run again if it is of the present code, or if the first run of each\n"
            "cell comes out to the last bit as it did. Runs of earlier code in OUT/runs.sqlite are used in\n"
            "the same way."
        ),
        f"experiments:\n{names}\n\nexamples:\n"
        "  windvane reproduce table1\n"
        "  windvane reproduce all --quick --data folder/with/the/data\n"
        "  windvane reproduce table1 table4 --runs 200 --dask tcp://scheduler:8786",
    )
    verb.add_argument("names", nargs="+", metavar="NAME", help="experiments, or `all`")
    verb.add_argument("--runs", type=int, help="runs per cell (default: as many as the paper)")
    running.add_arguments(verb, out="out/reproduce")
    running.add_data(verb)
    verb.add_argument("--synthetic", action="store_true", help="documented stand-ins where data are missing")
    verb.add_argument(
        "--markdown",
        type=Path,
        metavar="FILE",
        help="also write the report as Markdown, and keep its sections",
    )
    verb.set_defaults(run=run)


def chosen(names: list[str]) -> list[Experiment]:
    """The experiments named, in the order of the paper."""
    wanted = {one_of("NAME", name, (*EXPERIMENTS, "all")) for name in names}
    return [e for e in EXPERIMENTS.values() if "all" in wanted or e.name in wanted]


def run(given: argparse.Namespace) -> None:
    """Check everything, then run, publish and report, one experiment after the other."""
    experiments = chosen(given.names)
    first = running.first_seed(given)
    setting = Setting(given.quick, running.data_folder(given), given.synthetic)
    workers = running.workers_for(given)
    console = running.console_for(given)
    running.writable(given.out)
    sections = None if given.markdown is None else _place_for(given.markdown)
    experiments, skipped = with_data(experiments, setting)
    names = {experiment.name for experiment in experiments}
    summaries(given.out, [name for name in EXPERIMENTS if name not in names])  # a damaged one is named now
    kept = sections.all(EXPERIMENTS) if sections is not None else []
    with Store(given.out / "runs.sqlite") as store:
        for experiment in sorted(experiments, key=lambda one: one.hours):  # so that much is soon there
            runs = given.runs or (experiment.quick if given.quick else experiment.runs)
            work = Work(experiment, setting, range(first, first + runs), store, workers, console)
            if sections is None or not work.taken_up(sections, given.out):
                summary = work.done(given.out, _command(given, experiment.name, work.cells))
                if sections is not None:
                    sections.keep(summary, given.out)
            found = summaries(given.out, list(EXPERIMENTS))
            with writing(given.out / "report.html", "choose another place"):
                write_html(given.out / "report.html", given.out, found)
            if sections is not None:
                kept = sections.all(EXPERIMENTS)
                with writing(given.markdown, "choose another place"):
                    write_markdown(given.markdown, kept, list(EXPERIMENTS.values()))
    if experiments:
        page = _literal(given.out / "report.html")
        console.print(f"Report: [bold]{page}[/bold] ({counts(found)})", soft_wrap=True)
        if given.markdown is not None:
            page = _literal(given.markdown)
            console.print(f"Markdown: [bold]{page}[/bold] ({counts(kept)})", soft_wrap=True)
    if skipped:
        console.print(
            f"Skipped for want of data: {', '.join(skipped)}; "
            "give --data FOLDER, or --synthetic for stand-ins",
            soft_wrap=True,
        )


@dataclass(frozen=True)
class Work:
    """What there is to do for one experiment."""

    experiment: Experiment
    setting: Setting
    seeds: range
    store: Store
    workers: Workers
    console: Any

    @cached_property
    def cells(self) -> list[Cell]:
        """Those of the experiment."""
        return self.experiment.cells(self.setting)

    @cached_property
    def trials(self) -> list[RunSpec]:
        """All that is asked for."""
        return trials_of(self.cells, self.seeds)

    def taken_up(self, sections: Sections, out: Path) -> bool:
        """Whether the section that is kept beside the page is what was asked for; it says what it found.

        If the store has all runs, it costs nothing to evaluate them anew, perhaps in other words.
        """
        kept = sections.find(self.experiment.name)
        if kept is None:
            return False
        current, why = None, short(kept, len(self.seeds), self.cells, self.seeds[0])
        if not why:
            if kept.runs == len(self.seeds) and not self.store.missing(self.trials):
                return False
            current, why = renewed(kept, self.cells, self.seeds[0], self._checked)
        if current is None:
            self._say(f"the kept section does not count, since {why}")
            return False
        sections.write(current)
        sections.hand_out(current, out)
        self._say(f"kept in {sections.folder}, not run again ({size(current)}). {origin(current)}")
        return True

    def done(self, out: Path, command: str) -> ExperimentSummary:
        """Run what is missing, and publish."""
        began = time.monotonic()
        adopted = evidence.adopt_older(self.trials, self.store, self._checked)
        if adopted.checked:
            runs = counted(adopted.runs, "run")
            running.said_of(
                self.console, f"{self.experiment.name}: {runs} of earlier code taken over", adopted
            )
        results = running.watched(self.experiment.name, self.trials, self.store, self.workers)
        earlier = self.store.adopted(self.trials)
        summary = publish(self.experiment, self.setting, self.seeds, results, out, command, earlier)
        _say(self.console, summary, out, time.monotonic() - began)
        return summary

    def _checked(self, trials: Sequence[RunSpec]) -> dict[RunSpec, Result]:
        """Runs that are made anew."""
        return running.watched("checking", trials, self.store, self.workers)

    def _say(self, what: str) -> None:
        self.console.print(f"{self.experiment.name}: {what}", highlight=False, markup=False, soft_wrap=True)


def with_data(experiments: list[Experiment], setting: Setting) -> tuple[list[Experiment], list[str]]:
    """Those whose data are there, read once so that mistakes show before anything runs; and the others."""
    ready, skipped, read = [], [], set()
    for experiment in experiments:
        missing = experiment.data and setting.data is None and not setting.synthetic
        if missing and len(experiments) > 1:
            skipped.append(experiment.name)
            continue
        try:
            for cell in experiment.cells(setting):
                if "data" in cell.task.keywords() and cell.task.name not in read:
                    task(cell.task.name, **cell.task.keywords())
                    read.add(cell.task.name)
        except WindvaneError as error:
            error.add_note(f"needed by {experiment.name}; nothing was run")
            raise
        ready.append(experiment)
    if len(read) > 1 and setting.data is not None and setting.data.is_file():
        raise InvalidArgument(
            f"--data {setting.data}: is one file, but {' and '.join(sorted(read))} are two data sets; "
            "give the folder that holds both"
        )
    return ready, skipped


def _literal(text: object) -> str:
    """For rich, which would read square brackets as its own."""
    return str(require("rich.markup", EXTRA).escape(str(text)))


def _say(console: Any, summary: ExperimentSummary, out: Path, seconds: float) -> None:
    """The table, if the screen is wide enough for it, its notes, and the verdicts."""
    console.print(
        f"[bold]{summary.source}: {summary.title}[/bold] ({size(summary)}; {seconds:.0f} s)", highlight=False
    )
    plain = [[cell.replace("**", "") for cell in row] for row in (summary.table.header, *summary.table.rows)]
    if sum(max(map(len, column)) + 3 for column in zip(*plain, strict=True)) < console.width:
        draw(console, plain[0], plain[1:], unbroken=())
    for note in summary.table.notes:
        console.print(f"[dim]{_literal(note)}[/dim]", highlight=False)
    padding = require("rich.padding", EXTRA).Padding
    for claim in summary.claims:
        shown = VERDICTS[claim.verdict]
        console.print(
            f"[{shown.colour}]{shown.mark} {claim.verdict}[/]  {_literal(claim.text)}", highlight=False
        )
        console.print(padding(f"[dim]{_literal(claim.evidence)}[/dim]", (0, 0, 0, 4)), highlight=False)
    files = "table.md, figure.png, figure.pdf, records.parquet"
    console.print(f"{_literal(out / summary.name)}{os.sep}: {files}\n", soft_wrap=True)


def _command(given: argparse.Namespace, name: str, cells: list[Cell]) -> str:
    read = {option for cell in cells for option in cell.task.keywords()}
    return running.command(
        f"reproduce {name}",
        runs=given.runs,
        quick=given.quick,
        seed=given.seed or None,
        data="FOLDER" if "data" in read else None,
        synthetic="synthetic" in read,
    )


def _place_for(page: Path) -> Sections:
    """See now, not after everything, that the page can be written; its sections are kept beside it."""
    sections = Sections(page)
    with writing(f"--markdown {page}", "choose another place"):
        if page.is_dir():
            raise StorageFailure(f"--markdown {page}: is a folder; must be a file")
        sections.make()
        if not os.access(page if page.exists() else page.parent, os.W_OK):
            raise StorageFailure(f"--markdown {page}: cannot be written; choose another place")
    return sections
