"""A summary -> the section of the page, and its place between two marks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from peers import LEFT_OUT
from peers.contest import FIRST_SEED, TASKS
from peers.table import WINDOW
from sections import computed_by
from windvane.files import write_text

COMMAND = "make bench PAGE=docs/performance.md"


def replace(page: Path, name: str, text: str) -> None:
    """Put a text between <!-- name: begin --> and <!-- name: end -->; nothing else of the page changes."""
    old = page.read_text(encoding="utf-8")
    marks = rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)"
    if len(re.findall(marks, old, flags=re.DOTALL)) != 1:
        raise SystemExit(f"{page}: needs one pair of marks, <!-- {name}: begin --> and <!-- {name}: end -->")
    new = re.sub(marks, lambda found: f"{found[1]}\n{text.strip()}\n\n{found[2]}", old, flags=re.DOTALL)
    write_text(page, new)


def section(summary: dict[str, Any]) -> str:
    """Tables, figures, set-up and failures, in Markdown."""
    facts = summary["machine"]
    rows = summary["peers"]
    tasks = "\n".join(f"- **{name}**: {what}" for name, (what, _) in TASKS.items())
    return f"""Written by `{COMMAND}`, not by hand. {computed_by(summary["stamps"])}

All on the same tasks, samples of a Gaussian process on the unit square with noise of variance 0.02, of
{summary["steps"]} steps each: the same samples and the same noise for all, seeds from {FIRST_SEED} on. Nobody
is told kernel, noise, rate, or that anything changes. Each run is a process of its own with one thread; they
take turns, seed by seed and task by task. The tasks were chosen before any was run.

{tasks}

Time is that of the processor, ask and tell together. {facts["processor"]}, {facts["cores"]} cores shared
with other work, Python {facts["python"]}, NumPy {facts["numpy"]}, torch {facts["torch"]}.

![Regret against time per step, for objectives that change and for one that does not](images/peers.png)

### Time per step

{times(summary)}

Milliseconds: the median of the {WINDOW} steps up to the {ordinals(summary)} tell, over the runs that
were made in turn with those of `auto` on the machine above (runs kept from another one count for regret
alone; where there are no others, their milliseconds stand with 0 runs and no ratio); then the mean over
whole runs, in which a step that fits a model weighs as much as it costs; and its ratio to the mean of
`auto` in the same runs. An algorithm that drops old data has fewer points in use than tells.

### Regret per step

{regrets(summary)}

Mean and standard error over runs of R_T / T, the average distance to the optimum of the moment; in brackets
the ratio to `auto` with the same seeds, below 1 where `auto` loses. Ordered by the geometric mean of the
ratios on the tasks that change. An optimiser that needs a second per step or more is run on one task
per seed, in turn; then the number of runs is given. **One run decides nothing**: from seed to seed the regret
of an optimiser varies by a half and more. Such rows say what a step costs; in the figure they are hollow.

{losses(rows)}

![Regret of each optimiser over the steps of each task](images/peers-regret.png)

### How each was set up

{setups(rows)}
{failures(rows)}"""


def ordinals(summary: dict[str, Any]) -> str:
    return ", ".join(f"{mark}th" for mark in summary["marks"])


def times(summary: dict[str, Any]) -> str:
    marks = [str(mark) for mark in summary["marks"]]
    lines = [
        f"| optimiser | package | runs | {' | '.join(f'n = {mark}' for mark in marks)} | mean | of `auto` |",
        f"|:--|:--|--:|{'--:|' * len(marks)}--:|--:|",
    ]
    rows = summary["peers"].values()
    for row in sorted(rows, key=lambda row: row.get("ms_a_step", float("inf"))):
        if row["runs"]:
            cells = " | ".join(digits(row["ms"][mark]) for mark in marks)
            ratio = digits(row["time_ratio"])
            first = f"{row['label']} | {row['package']} | {row['timed']}"
            lines.append(f"| {first} | {cells} | {digits(row['ms_a_step'])} | {ratio} |")
        else:
            blank = " | ".join("–" for _ in marks)
            lines.append(f"| {row['label']} | {why_not(row)} | 0 | {blank} | – | – |")
    return "\n".join(lines)


def regrets(summary: dict[str, Any]) -> str:
    rows = summary["peers"].values()
    usual = {
        task: max((row.get("regret", {}).get(task, {}).get("runs", 0) for row in rows), default=0)
        for task in TASKS
    }
    lines = [
        f"| optimiser | {' | '.join(TASKS)} |",
        f"|:--|{'--:|' * len(TASKS)}",
    ]
    for row in sorted(rows, key=lambda row: row.get("changing") or float("inf")):
        cells = []
        for task in TASKS:
            cell = row.get("regret", {}).get(task)
            cells.append(regret(cell, usual[task]) if cell else "–")
        if not row["runs"]:
            cells[0] = why_not(row)
        lines.append(f"| {row['label']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def regret(cell: dict[str, Any], usual: int) -> str:
    spread = "" if cell["error"] is None else f" ± {cell['error']:.3f}"
    runs = "" if cell["runs"] == usual else f", {cell['runs']} {'run' if cell['runs'] == 1 else 'runs'}"
    ratio = "–" if cell["ratio"] is None else f"{cell['ratio']:.2f}"
    return f"{cell['mean']:.3f}{spread} ({ratio}{runs})"


def losses(rows: dict[str, Any]) -> str:
    """Who has less regret than `auto`, task by task; these rows are the ones to look at first."""
    lines = []
    for task in TASKS:
        better = [
            (cell["ratio"], row["label"])
            for row in rows.values()
            if (cell := row.get("regret", {}).get(task))
            and cell["ratio"] is not None
            and cell["ratio"] < 0.995
        ]
        names = ", ".join(f"{label} ({ratio:.2f})" for ratio, label in sorted(better)) or "nobody"
        lines.append(f"- Less regret than `auto` on **{task}**: {names}.")
    faster = [row["label"] for row in rows.values() if (row.get("time_ratio") or 1.0) < 0.995]
    lines.append(f"- Less time per step than `auto`: {', '.join(faster) or 'nobody'}.")
    return "\n".join(lines)


def setups(rows: dict[str, Any]) -> str:
    lines = [f"- **{row['label']}**: {row['setup']}." for row in rows.values()]
    return "\n".join(lines + [f"- **{name}** is left out: {why}." for name, why in LEFT_OUT.items()])


def failures(rows: dict[str, Any]) -> str:
    lines = [f"- **{row['label']}**, {each}." for row in rows.values() for each in row["failed"]]
    if not lines:
        return ""
    return (
        "\nRuns that failed, and are in no mean (`--retry` makes them again):\n\n" + "\n".join(lines) + "\n"
    )


def why_not(row: dict[str, Any]) -> str:
    return "failed, see below" if row["failed"] else "no run in the time it had"


def digits(value: float | None) -> str:
    """Two significant digits below 100."""
    if value is None:
        return "–"
    if value >= 100.0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10.0 else f"{value:.2g}"
