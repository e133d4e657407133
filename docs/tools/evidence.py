"""Which figures are older than the code that they describe, and how to bring them up to date. `make evidence`

    python docs/tools/evidence.py                 # what is out of date, and how long it would take
    python docs/tools/evidence.py --run           # bring the pages up to date; interrupt it as you like
    python docs/tools/evidence.py --run --data FOLDER docs/triggers.md    # only this page
    python docs/tools/evidence.py --run docs/how-to/optuna.md             # a section that a script writes

A page that a command wrote has a stamp (windvane.experiments.stamp): the version, the commit and a digest of
the code that computes runs. A page is out of date if a stamp in it has another digest than the code has now,
or if it has none. Commands keep each finished run and continue where they stopped: nothing is computed twice.
After each, docs/what-holds.md is written anew from the pages as they are then.

Each section of docs/reproduction.md has a stamp of its own, of the code that its cells depend on, and is kept
in docs/evidence/reproduction. It is listed if that code has changed, if it has fewer runs than its full size,
or if it is missing.

Sections whose figures a script in bench/ or examples/ measures (bench/sections.py) are listed in the same
way. They are measured if they are asked for by name, since many are times, which need an idle machine; those
that no command writes are put into their page by hand, with the stamp that the script prints.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from windvane.experiments.experiment import Experiment, Setting
from windvane.experiments.paper import EXPERIMENTS
from windvane.experiments.sections import Sections, outdated, short
from windvane.experiments.stamp import Stamp, section_at, stamp, stamps

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench"))
from sections import SECTIONS, Section  # noqa: E402

CORES = 2  # that hours are for
DATA = "{data}"  # in a command: the folder of the real data
SCRIPTS = Path(sys.executable).parent


@dataclass(frozen=True)
class Age:
    """Why a page, or a part of it, is out of date (nothing if it is not), and how long it would take."""

    place: str
    why: str
    hours: float


@dataclass(frozen=True)
class Page:
    """A page that a command writes, and how long that takes on two idle cores if nothing is kept."""

    path: str
    command: tuple[str, ...]
    hours: float

    @property
    def needs_data(self) -> bool:
        """Whether the real data are needed."""
        return DATA in self.command

    def filled(self, data: str) -> list[str]:
        """The command, with the folder of the data."""
        return [data if word == DATA else word for word in self.command]


class ReproductionPage(Page):
    """The page of the paper, section by section; hours are those of all of them."""

    def sections(self, data: str | None) -> list[Age]:
        """Of each section."""
        text = (ROOT / self.path).read_text(encoding="utf-8")
        kept = Sections(ROOT / self.path)
        return [self._age(EXPERIMENTS[name], text, kept, data) for name in self.names]

    @property
    def names(self) -> list[str]:
        """Of the experiments that the command asks for."""
        asked = [name for name in EXPERIMENTS if name in self.command]
        return asked or list(EXPERIMENTS)

    def runs(self, experiment: Experiment) -> int:
        """That many of each cell are wanted."""
        if "--runs" in self.command:
            return int(self.command[self.command.index("--runs") + 1])
        return experiment.runs

    def _age(self, experiment: Experiment, text: str, kept: Sections, data: str | None) -> Age:
        found, runs = kept.find(experiment.name), self.runs(experiment)
        hours = experiment.hours * runs / experiment.runs / CORES
        if found is None:
            return Age(
                self._place(experiment), f"no section with a stamp, {runs} runs per cell wanted", hours
            )
        size = f"{found.runs} of {runs} runs per cell"
        setting = Setting(data=Path(data) if data else None)
        cells = experiment.cells(setting) if data or not experiment.data else None
        why = outdated(found) or short(found, runs, cells)
        if not why and found.stamp not in stamps(section_at(text, experiment.name) or ""):
            why = "the page does not have it"
        return Age(f"{self._place(experiment)}, {size}", why, hours)

    def _place(self, experiment: Experiment) -> str:
        return f"{self.path}, {experiment.source} ({experiment.name})"


PAGES = (
    Page("docs/triggers.md", ("windvane", "triggers", "--markdown", "docs/triggers.md"), 0.3),
    Page(
        "docs/adaptivity.md",
        (
            "windvane",
            "bench",
            "--suite",
            "standard",
            "--seed",
            "5003",
            "--data",
            DATA,
            "--evidence",
            "docs/evidence/standard.jsonl.gz",
            "--markdown",
            "docs/adaptivity.md",
        ),
        5.0,
    ),
    ReproductionPage(
        "docs/reproduction.md",
        ("windvane", "reproduce", "all", "--data", DATA, "--markdown", "docs/reproduction.md"),
        round(sum(one.hours for one in EXPERIMENTS.values()) / CORES, 1),
    ),
)


def age(found: Sequence[Stamp], now: Stamp) -> str:
    """Why a page is out of date; nothing if it is not."""
    if not found:
        return "no stamp: which code computed it was not recorded"
    other = sorted({one.commit for one in found if one.code != now.code})
    return f"computed by other code (commit {', '.join(other)})" if other else ""


def ages(page: Page, data: str | None) -> list[Age]:
    """Of the page, or of each of its sections."""
    if isinstance(page, ReproductionPage):
        return page.sections(data)
    why = age(stamps((ROOT / page.path).read_text(encoding="utf-8")), stamp())
    return [Age(page.path, why, page.hours)]


def listed(wanted: Sequence[str], data: str | None) -> tuple[dict[Page, float], list[Section]]:
    """Print the age of each page and section; return those that are out of date, pages with their hours."""
    pages = dict[Page, float]()
    for page in PAGES:
        if not wanted or page.path in wanted:
            for each in ages(page, data):
                print(
                    f"{each.place}: {each.why or 'up to date'}" + (f"; {spoken(each.hours)}" * bool(each.why))
                )
                if each.why:
                    pages[page] = pages.get(page, 0.0) + each.hours
    measured = list[Section]()
    for each in SECTIONS.values():
        if not wanted or each.page in wanted:
            why = age(each.stamps(ROOT), each.now())
            measured += [each] if why else []
            hint = f"; {each.command}, {spoken(each.hours)}" if why else ""
            print(f"{each.place}: {why or 'up to date'}{hint}")
    return pages, measured


def spoken(hours: float) -> str:
    """How long something takes.

    >>> spoken(0.011), spoken(0.75), spoken(10)
    ('1 minute', '45 minutes', '10 hours')
    """
    if hours >= 1:
        return f"{hours:.2g} hours"
    minutes = max(1, round(60 * hours))
    return f"{minutes} minute{'s' * (minutes > 1)}"


def main() -> None:
    """Say what is out of date; with --run, bring it up to date."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = sorted({page.path for page in PAGES} | {each.page for each in SECTIONS.values()})
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"only these, of {', '.join(known)}")
    parser.add_argument("--run", action="store_true", help="bring what is out of date up to date")
    parser.add_argument("--data", default=os.environ.get("WINDVANE_DATA"), help="folder with the real data")
    given = parser.parse_args()
    unknown = [page for page in given.pages if page not in known]
    if unknown:
        parser.error(f"{unknown[0]}: no page with figures; there are {', '.join(known)}")
    stale, measured = listed(given.pages, given.data)
    if stale:
        hours = sum(stale.values())
        print(f"Up to {hours:.2g} hours of two idle cores to bring the pages up to date: make evidence")
        print("What is kept of earlier runs of the same code is not computed again.")
    if measured:
        hours = sum(each.hours for each in measured)
        print(f"About {hours:.1f} hours of an idle machine to measure the sections again, by their commands.")
    if given.run:
        update(list(stale), given.data)
        measure(measured if given.pages else [])


def update(stale: Sequence[Page], data: str | None) -> None:
    """The command of each page, one after the other."""
    for page in stale:
        if page.needs_data and not data:
            raise SystemExit(f"{page.path}: needs the real data; give --data FOLDER, or set WINDVANE_DATA")
    for page in stale:
        command = page.filled(data or "")
        print(f"\n{page.path}: {' '.join(command)}", flush=True)
        carry_out(page.path, [str(SCRIPTS / command[0]), *command[1:]])
        summed_up()


def measure(measured: Sequence[Section]) -> None:
    """The command of each section that a command writes; of others it is said what is to be done."""
    for command in dict.fromkeys(each.command for each in measured if each.written):
        print(f"\n{command}", flush=True)
        carry_out(command, command.split())
        summed_up()
    for each in measured:
        if not each.written:
            print(f"{each.place}: run {each.command}, and put its figures and its stamp into the page")


def summed_up() -> None:
    """docs/what-holds.md has one line per claim, read from the other pages. If it fails, the rest goes on."""
    if subprocess.run([sys.executable, "docs/tools/what_holds.py"], cwd=ROOT, check=False).returncode:
        print("docs/what-holds.md: not written; mend docs/tools/what_holds.py, and run it", flush=True)


def _end_with_parent() -> None:
    """In the command's process: be interrupted when this one is gone, where the system can do that.

    Otherwise one that is killed would leave the command at work, and another one would make the same runs
    beside it. A shell has what runs in its background ignore interrupts, which ends here.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    prctl = getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None
    if prctl is not None:
        prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG


def carry_out(what: str, command: Sequence[str]) -> None:
    """A command that must not fail, and that ends with this one, however that comes about."""
    done = subprocess.run(command, cwd=ROOT, check=False, preexec_fn=_end_with_parent)
    if done.returncode:
        raise SystemExit(
            f"{what}: the command ended with {done.returncode}; finished runs are kept, "
            "the same command continues"
        )


if __name__ == "__main__":
    main()
