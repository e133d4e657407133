"""`windvane triggers`: false alarms and delays of each trigger, side by side."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from windvane.checks import integer
from windvane.cli import running, terminal
from windvane.cli.running import EXTRA
from windvane.cli.tables import draw
from windvane.cli.verbs import VerbParser
from windvane.errors import StorageFailure
from windvane.experiments import triggers, triggers_page
from windvane.experiments.report import MARKS
from windvane.experiments.triggers import QUICK, TriggerStudyPlan
from windvane.extras import require

DESCRIPTION = """\
Counts how often each trigger fires while nothing changes, against what it promises, and how long it takes
to notice a jump or slow drift, by the same simulations as `windvane calibrate`. Each run answers for all
triggers: until its first reset ET-GP-UCB is GP-UCB, whatever its trigger."""

EPILOG = """\
examples:
  windvane triggers --quick                          a tenth of the runs
  windvane triggers --markdown docs/triggers.md      the page of the documentation, a few minutes on two cores

files in OUT: triggers.md, triggers.json (every first alarm), figure.png, figure.pdf"""


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    verb.described(DESCRIPTION, EPILOG)
    running.add_arguments(verb, "out/triggers", few="a tenth of the runs")
    verb.add_argument("--markdown", type=Path, metavar="FILE", help="also write the page there")
    verb.set_defaults(run=run)


def run(given: argparse.Namespace) -> None:
    """Check everything, run, write, show."""
    first = integer("--seed", given.seed, at_least=0)
    plan = QUICK if given.quick else TriggerStudyPlan()
    workers = running.workers_for(given)
    console = running.console_for(given)
    running.writable(given.out)
    if given.markdown is not None and given.markdown.is_dir():
        raise StorageFailure(f"--markdown {given.markdown}: is a folder; must be a file")
    with terminal.bars(EXTRA) as bars:
        bar = bars.add_task("triggers", total=plan.runs, note="")
        study = triggers.conduct(plan, first, workers, on_run=lambda: bars.advance(bar))
    command = running.command("triggers", quick=given.quick, seed=given.seed or None, markdown=given.markdown)
    triggers_page.write(study, given.out, command, given.markdown)
    _show(console, study)
    files = "triggers.md, triggers.json, figure.png, figure.pdf"
    text = require("rich.text", EXTRA).Text
    console.print(text(f"{given.out}{os.sep}: {files}"), soft_wrap=True)


def _show(console: Any, study: triggers.TriggerStudy) -> None:
    text = require("rich.text", EXTRA).Text
    for title, build in triggers_page.SECTIONS:
        shown = build(study)
        draw(console, shown.header, [[cell.strip("`") for cell in row] for row in shown.rows], title=title)
        for note in shown.notes:
            console.print(text(note.replace("`", ""), style="dim"), highlight=False)
    for claim in triggers_page.claims(study):
        console.print(text(f"{MARKS[claim.verdict]} {claim.verdict}: {claim.text.replace('`', '')}"))
        console.print(text(f"    {claim.evidence}", style="dim"), highlight=False)
