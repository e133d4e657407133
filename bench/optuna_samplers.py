"""Optuna's samplers and Windvane's where the objective changes: regret and time. `make optuna-bench`

    python bench/optuna_samplers.py            # 20 seeds of 200 trials; three quarters of an hour
    python bench/optuna_samplers.py --quick    # 2 seeds of 60 trials; a minute or two

It needs the extras `optuna` and `demo`, and for Optuna's own samplers torch and cmaes; `make` sees to that,
and gives BLAS one thread, since times are of the processor.

Every sampler is used as `optuna.create_study(sampler=...)` uses it, with Optuna's defaults and a seed. All
samplers meet the same objectives with the same noise. Each finished run is a file in `out/optuna/runs`, so
that a run that was interrupted continues where it was; the table (`table.md`, `table.json`) and the figure
(`regret.png`) are made from these files. With `--page` the runs of other samplers are taken up from
evidence/optuna.jsonl.gz in the documentation, and kept there.

The tasks were chosen before anything was measured, one for each way in which an objective can change, all in
two dimensions so that 200 trials are enough to find something:

- `drift`: the paper's own setting at its middle rate; everything changes a little at each step;
- `jumps`: stands still, and is another function after a third and after two thirds of the trials;
- `season`: drifts to its opposite and back, twice in 200 trials;
- `moved peak`: Ackley's function, moved after half of the trials, which is drawn from no Gaussian process;
- `static`: nothing changes. Not part of the comparison: it shows what it costs to be prepared.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import optuna

import windvane as wv
from peers.intervals import ratio
from peers.kept import host, keep, side_by_side, take_up
from peers.page import replace
from sections import computed_by, stamp_of
from windvane.experiments.stamp import stamps
from windvane.extras import require
from windvane.files import write_text
from windvane.integrations.optuna import WindvaneSampler
from windvane.plots import style

Make = Callable[[int], optuna.samplers.BaseSampler]

TASKS: dict[str, Callable[[int, int], Any]] = {
    "drift": lambda seed, length: wv.task("within-model", dim=2, rate=0.03, horizon=length, seed=seed),
    "jumps": lambda seed, length: wv.task("jumps", count=2, horizon=length, seed=seed),
    "season": lambda seed, length: wv.task("seasonal", period=100, horizon=length, seed=seed),
    "moved peak": lambda seed, length: wv.task("ackley-shift", horizon=length, seed=seed),
    "static": lambda seed, length: wv.task("within-model", dim=2, rate=0.0, horizon=length, seed=seed),
}


SAMPLERS: dict[str, Make] = {
    "WindvaneSampler": lambda seed: WindvaneSampler(seed=seed),
    "GPSampler": lambda seed: optuna.samplers.GPSampler(seed=seed),
    "TPESampler": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "CmaEsSampler": lambda seed: optuna.samplers.CmaEsSampler(seed=seed),
    "RandomSampler": lambda seed: optuna.samplers.RandomSampler(seed=seed),
}
OURS, CONTROL, TRIALS = "WindvaneSampler", "static", 200
Runs = dict[tuple[str, str], list[dict[str, Any]]]


class Stopwatch(optuna.samplers.BaseSampler):
    """A sampler, and the processor time that is spent in it: not in Optuna, nor in the objective."""

    def __init__(self, sampler: optuna.samplers.BaseSampler) -> None:
        self.sampler = sampler
        self.spent = 0.0

    def _timed(self, work: Callable[..., Any], *arguments: Any) -> Any:
        start = time.process_time()
        try:
            return work(*arguments)
        finally:
            self.spent += time.process_time() - start

    def infer_relative_search_space(self, *arguments: Any) -> Any:
        return self._timed(self.sampler.infer_relative_search_space, *arguments)

    def sample_relative(self, *arguments: Any) -> Any:
        return self._timed(self.sampler.sample_relative, *arguments)

    def sample_independent(self, *arguments: Any) -> Any:
        return self._timed(self.sampler.sample_independent, *arguments)

    def before_trial(self, *arguments: Any) -> None:
        self._timed(self.sampler.before_trial, *arguments)

    def after_trial(self, *arguments: Any) -> None:
        self._timed(self.sampler.after_trial, *arguments)


class Asking:
    """A study as `wv.simulate` wants it; times are the sampler's own, trial by trial."""

    def __init__(self, sampler: optuna.samplers.BaseSampler, bounds: Any) -> None:
        self.stopwatch = Stopwatch(sampler)
        self.study = optuna.create_study(direction="maximize", sampler=self.stopwatch)
        self.bounds = bounds
        self.times: list[float] = []

    def ask(self) -> Any:
        self.before = self.stopwatch.spent
        self.trial = self.study.ask()
        return np.array([self.trial.suggest_float(f"x{i}", lo, hi) for i, (lo, hi) in enumerate(self.bounds)])

    def tell(self, x: Any, y: float) -> None:  # noqa: ARG002
        self.study.tell(self.trial, y)
        self.times.append(self.stopwatch.spent - self.before)


def run(task: Any, sampler: optuna.samplers.BaseSampler, seed: int) -> dict[str, Any]:
    """Regret and seconds, trial by trial."""
    asking = Asking(sampler, task.space.bounds)
    trace = wv.simulate(asking, task, seed=seed)
    found = {"regret": trace.regret.tolist(), "seconds": asking.times, "stamp": str(stamp_of("optuna"))}
    return found | {"host": host(), "optuna": optuna.__version__}


def wanted(file: Path, sampler: str) -> bool:
    """Whether a run is missing, or of another Optuna, or one of Windvane's own that other code made."""
    if not file.exists():
        return True
    made = json.loads(file.read_text(encoding="utf-8"))
    ours = [one.code for one in stamps(made.get("stamp", ""))]
    return made.get("optuna") != optuna.__version__ or (sampler == OURS and ours != [stamp_of("optuna").code])


def lasting(_: Any, name: str) -> bool:
    """Whether a run is worth keeping beside the page: another sampler's, of the usual length."""
    return OURS not in name and f"-{TRIALS}-" in name


def place(folder: Path, task: str, sampler: str, seed: int, length: int) -> Path:
    return folder / "runs" / f"{task.replace(' ', '-')}-{sampler}-{length}-{seed}.json"


def everything(folder: Path, tasks: list[str], samplers: list[str], seeds: int, length: int) -> None:
    """Every run that is not there yet, seed by seed, so that all tasks and samplers advance together."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    todo = [(s, t, n) for s in range(seeds) for t in tasks for n in samplers]
    todo = [(s, t, n) for s, t, n in todo if wanted(place(folder, t, n, s, length), n)]
    progress = require("rich.progress", "demo")
    for seed, task, name in progress.track(todo, description="runs"):
        found = run(TASKS[task](seed, length), SAMPLERS[name](seed), seed)
        write_text(place(folder, task, name, seed, length), json.dumps(found) + "\n")


def finished(folder: Path, tasks: list[str], samplers: list[str], seeds: int, length: int) -> Runs:
    """The runs of those seeds for which every sampler has finished a task."""
    found: Runs = {}
    for task in tasks:
        paths = [[place(folder, task, name, seed, length) for name in samplers] for seed in range(seeds)]
        whole = [row for row in paths if all(path.exists() for path in row)]
        for at, name in enumerate(samplers):
            found[task, name] = [json.loads(row[at].read_text(encoding="utf-8")) for row in whole]
    return found


def summary(runs: Runs, tasks: list[str], samplers: list[str]) -> list[dict[str, Any]]:
    """A row for each task and sampler."""
    rows = []
    for task in tasks:
        ours = np.array([np.mean(each["regret"]) for each in runs[task, OURS]]) if OURS in samplers else None
        for name in samplers:
            each = runs[task, name]
            if not each:
                continue
            regret = np.array([np.mean(one["regret"]) for one in each])
            beside = side_by_side(each, runs.get((task, OURS), each))
            seconds = np.concatenate([one["seconds"] for one in beside or each])
            row = {
                "task": task,
                "sampler": name,
                "seeds": len(each),
                "regret": float(regret.mean()),
                "error": float(regret.std(ddof=1) / np.sqrt(len(regret))) if len(regret) > 1 else None,
                "timed": len(beside),
                "milliseconds": 1e3 * float(seconds.mean()),
            }
            if ours is not None and name != OURS:
                row["ratio"] = ratio(ours, regret)
            rows.append(row)
    return rows


def markdown(rows: list[dict[str, Any]], length: int) -> str:
    """What is in the documentation."""
    lines = ["| task | sampler | regret per trial | WindvaneSampler's, in proportion | ms per suggestion |"]
    lines.append("|:--|:--|--:|--:|--:|")
    last = ""
    for row in rows:
        task, last = row["task"] if row["task"] != last else "", row["task"]
        error = "" if row["error"] is None else f" ± {row['error']:.2g}"
        share = ""
        if "ratio" in row:
            mean, low, high = row["ratio"]
            share = f"{mean:.2f} ({low:.2f} to {high:.2f})"
        lines.append(
            f"| {task} | {row['sampler']} | {row['regret']:.3g}{error} | {share} | "
            f"{row['milliseconds']:.3g}{'' if row['timed'] else ' (another machine)'} |"
        )
    seeds = sorted({row["seeds"] for row in rows})
    spoken = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    lines.append("")
    lines.append(
        f"{spoken} seeds of {length} trials; means, ± one standard error; 95 % intervals by bootstrap."
    )
    return "\n".join(lines) + "\n"


def figure(runs: Runs, tasks: list[str], samplers: list[str]) -> Any:
    """Mean regret, averaged over the trials so far, and the standard error as a band."""
    shown = [task for task in tasks if runs[task, samplers[0]]]
    page, axes = style.sheet(1, len(shown), (3.1 * len(shown), 3.2))
    colours = dict(
        zip(SAMPLERS, (style.BLACK, style.VERMILION, style.BLUE, style.GREEN, style.GREY), strict=True)
    )
    for panel, task in zip(axes.flat, shown, strict=True):
        for name in samplers:
            regret = np.array([each["regret"] for each in runs[task, name]])
            average = np.cumsum(regret, axis=1) / np.arange(1, regret.shape[1] + 1)
            mean, error = average.mean(axis=0), average.std(axis=0) / np.sqrt(len(average))
            steps = np.arange(1, len(mean) + 1)
            width = 2.2 if name == OURS else 1.5
            panel.plot(steps, mean, color=colours[name], lw=width, label=name)
            panel.fill_between(steps, mean - error, mean + error, color=colours[name], alpha=0.15, lw=0)
        panel.set_ylim(bottom=0)
        panel.set_xlabel("trial", fontsize=style.text(9))
        style.says(panel, task if task != CONTROL else "static (the control)")
    axes.flat[0].set_ylabel("mean regret so far", fontsize=style.text(9))
    style.legend(page, axes.flat[0], columns=5)
    return page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--quick", action="store_true", help="2 seeds of 60 trials")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=list(SAMPLERS))
    parser.add_argument("--report", action="store_true", help="no new runs: only the table and the figure")
    parser.add_argument("--page", type=Path, help="also write the table and the figure into this page")
    parser.add_argument("--out", type=Path, default=Path("out/optuna"))
    given = parser.parse_args()
    if given.quick and given.page:
        parser.error("--quick is for trying it out: it writes no --page")
    seeds, length = (2, 60) if given.quick else (given.seeds, given.trials)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    folder = given.out / "runs"
    evidence = given.page and given.page.parents[1] / "evidence" / "optuna.jsonl.gz"
    if evidence:
        print(f"{take_up(evidence, folder)} runs taken up from {evidence.name}", flush=True)
    try:
        if not given.report:
            everything(given.out, given.tasks, given.samplers, seeds, length)
    finally:
        if evidence:
            keep(evidence, folder, lasting)
    runs = finished(given.out, given.tasks, given.samplers, seeds, length)
    rows = summary(runs, given.tasks, given.samplers)
    ours = sorted({each.get("stamp", "") for task in given.tasks for each in runs.get((task, OURS), [])})
    text = f"{markdown(rows, length)}\n{computed_by(ours)}\n"
    write_text(given.out / "table.md", text)
    write_text(given.out / "table.json", json.dumps(rows, indent=1) + "\n")
    drawn = figure(runs, given.tasks, given.samplers)
    style.save(drawn, given.out, "regret")
    if given.page:
        drawn.savefig(given.page.parents[1] / "images" / "optuna-regret.png", dpi=130)
        replace(given.page, "measured", text)
    print(text)


if __name__ == "__main__":
    main()
