"""Contexts: `auto`, told nothing, beside Xopt's generators on a task whose optimum follows a measured load.

    python bench/contexts_xopt.py                    # 10 seeds of 150 steps; an hour of one core
    python bench/contexts_xopt.py --seeds 2 --steps 60

It runs in the environment of `make bench`. Xopt is used in two ways, with its upper confidence bound, its own
fits and two random points first: with a `ContextualVariable`, which takes the load of the last row of data
for that of the next point; and with the load as a fixed feature, set anew before each point, which knows it
as `auto` does. Each run that is finished is a line of the file, and is not made again.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from xopt.generators.bayesian import UpperConfidenceBoundGenerator
from xopt.vocs import VOCS, ContextualVariable

import windvane as wv

FIRST_SEED = 10_500
RANDOM = 2
NAMES = ("valve", "speed")


class Xopt:
    """Ask and tell as `wv.simulate` wants them."""

    def __init__(self, fixed: bool, seed: int) -> None:
        torch.manual_seed(seed)
        self.rng, self.fixed, self.told = np.random.default_rng(seed), fixed, 0
        load: Any = [0.0, 100.0] if fixed else ContextualVariable(domain=[0.0, 100.0])
        vocs = VOCS(
            variables={**{name: [0.0, 1.0] for name in NAMES}, "load": load}, objectives={"y": "MAXIMIZE"}
        )
        self.generator = UpperConfidenceBoundGenerator(vocs=vocs)

    def ask(self, context: dict[str, float]) -> dict[str, float]:
        if self.told < RANDOM:
            return {**{name: float(self.rng.uniform()) for name in NAMES}, **context}
        if self.fixed:
            self.generator.fixed_features = dict(context)
        (point,) = self.generator.generate(1)
        return {**{name: float(np.clip(point[name], 0.0, 1.0)) for name in NAMES}, **context}

    def tell(self, x: dict[str, float], y: float) -> None:
        self.generator.add_data(pd.DataFrame([{**x, "y": y}]))
        self.told += 1


RIVALS = {
    "auto": lambda task, seed: wv.make(task.space, seed=seed),
    "xopt, fixed feature": lambda _task, seed: Xopt(True, seed),
    "xopt, contextual": lambda _task, seed: Xopt(False, seed),
}


def one(rival: str, seed: int, steps: int) -> dict[str, Any]:
    task = wv.task("following-load", seed=seed, horizon=steps)
    trace = wv.simulate(RIVALS[rival](task, seed), task, seed=seed)
    return {"rival": rival, "seed": seed, "steps": steps, "regret": float(np.mean(trace.regret))}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--file", type=Path, default=Path("out/contexts_xopt.jsonl"))
    given = parser.parse_args()
    warnings.filterwarnings("ignore")  # of its fits
    given.file.parent.mkdir(parents=True, exist_ok=True)
    lines = given.file.read_text(encoding="utf-8").splitlines() if given.file.exists() else []
    found = {(row["rival"], row["seed"], row["steps"]): row["regret"] for row in map(json.loads, lines)}
    for seed in range(FIRST_SEED, FIRST_SEED + given.seeds):
        for rival in RIVALS:
            if (rival, seed, given.steps) not in found:
                row = one(rival, seed, given.steps)
                with given.file.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(row) + "\n")
                found[rival, seed, given.steps] = row["regret"]
                print(f"seed {seed}, {rival}: {row['regret']:.4f}", flush=True)
    seeds = [
        s
        for s in range(FIRST_SEED, FIRST_SEED + given.seeds)
        if all((r, s, given.steps) in found for r in RIVALS)
    ]
    own = np.array([found["auto", s, given.steps] for s in seeds])
    for rival in RIVALS:
        theirs = np.array([found[rival, s, given.steps] for s in seeds])
        gap = np.log(own / theirs)
        error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else float("nan")
        share = own.mean() / theirs.mean()
        print(
            f"{rival}: mean regret {theirs.mean():.4f} over {len(seeds)} seeds; auto's is {share:.2f} of it, "
            f"mean of the logarithms {gap.mean():+.2f} ± {error:.2f}"
        )


if __name__ == "__main__":
    main()
