"""Windvane beside other optimisers on objectives that change: time a step and regret. `make bench`

Every peer is asked and told in a process of its own with one thread, on the same tasks with the same noise,
and none is told anything about them. A run is a file under out/bench; one that is there is not made again.
With `--page` the runs of other packages are taken up from evidence/peers.jsonl.gz beside the page, and kept
there.

    python bench/beside_peers.py --quick                          # every peer, one seed, 30 steps
    python bench/beside_peers.py --seeds 4 --jobs 2               # four seeds, two runs at a time
    python bench/beside_peers.py --peers xopt auto --tasks seasons --seeds 10     # these two on this task
    python bench/beside_peers.py --no-runs --page docs/performance.md     # only the table and the figures
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from peers import PEERS
from peers.contest import STEPS, TASKS
from peers.figure import curves, scatter
from peers.kept import keep, take_up
from peers.page import replace, section
from peers.runs import lasting, make_all, plan
from peers.table import summarise


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--seeds", type=int, default=8, help="runs of a peer on each task; a slow one has a quarter"
    )
    parser.add_argument(
        "--budget", type=float, default=120.0, help="minutes of the processor a peer has, at most"
    )
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time")
    parser.add_argument("--quick", action="store_true", help="every peer, one seed, 30 steps, to try it out")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS), metavar="NAME")
    parser.add_argument(
        "--tasks", nargs="+", choices=TASKS, metavar="NAME", help="only these, slow peers on all of them"
    )
    parser.add_argument(
        "--again", nargs="+", choices=PEERS, default=[], metavar="NAME", help="forget their runs"
    )
    parser.add_argument("--retry", action="store_true", help="make runs that failed again")
    parser.add_argument("--no-runs", action="store_true", help="make no runs, only tables and figures")
    parser.add_argument("--out", type=Path, default=Path("out/bench"), help="the folder of runs and results")
    parser.add_argument("--page", type=Path, help="also write the section between the marks in this page")
    given = parser.parse_args()
    if given.quick and given.page:
        parser.error("--quick is for trying it out: it writes no --page")
    if given.tasks and given.page:
        parser.error("--tasks is a part of the table: it writes no --page")
    return given


def main() -> None:
    given = arguments()
    seeds, steps = (1, 30) if given.quick else (given.seeds, STEPS)
    runs = list(plan(given.peers, seeds, steps, given.tasks))
    folder = given.out / "runs"
    evidence = given.page and given.page.parent / "evidence" / "peers.jsonl.gz"
    if evidence:
        print(f"{take_up(evidence, folder)} runs taken up from {evidence.name}", flush=True)
    for run in runs:
        failed = "failed" in (run.stored(folder) or {})
        if run.peer in given.again or (failed and given.retry):
            run.file(folder).unlink(missing_ok=True)
    if given.no_runs:
        found = [stored for run in runs if (stored := run.stored(folder)) is not None]
    else:
        try:
            found = make_all(runs, folder, given.budget, given.jobs, lambda line: print(line, flush=True))
        finally:
            if evidence:
                keep(evidence, folder, lasting)
    given.out.mkdir(parents=True, exist_ok=True)
    summary = summarise(given.peers, found, steps)
    text = section(summary)
    (given.out / "peers.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    (given.out / "peers.md").write_text(text, encoding="utf-8")
    figures = {"peers.png": scatter(summary), "peers-regret.png": curves(summary)}
    for name, figure in figures.items():
        figure.savefig(given.out / name, dpi=150)
    if given.page:
        for name, figure in figures.items():
            figure.savefig(given.page.parent / "images" / name, dpi=150)
        replace(given.page, "peers", text)
    print(text)


if __name__ == "__main__":
    main()
