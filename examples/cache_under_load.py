"""Tune the read-ahead of a cache in front of a real database while its load shifts, by measured time alone.

On a miss, the cache reads a row and those that follow: waste if requests jump about, a gain if they run on.
How far to read is the knob. Its best setting depends on the load: lookups, then short runs of rows, then long
scans, then lookups again. Each contestant has a server process of its own (cache_server.py); they take turns,
so that whatever else this machine does hits all alike. Wall time is measured; no two runs are the same.

  fixed      the setting that a sweep found best for the first load, kept for good
  gp-ucb     Bayesian optimisation that believes all it ever saw
  et-gp-ucb  drops its data when a measurement breaks the bound
  auto       Windvane's default, which weighs hypotheses about how things change
  auto+load  the same with a context: how long runs of rows are, counted in the step before
  retuned    the setting that the sweep found best for the load of the moment

Prints the sweep, then microseconds per request (geometric means), and draws the run.
"""

import argparse
import math
import tempfile
from pathlib import Path

import numpy as np
from cache_server import LOADS, fill, measure, run_length, start

import windvane as wv
from windvane.plots import style

KNOB, RUN = wv.Integer(1, 256, log=True), wv.Context(1, 2000, log=True)
PHASES = ("lookups", "runs", "scans", "lookups")
NAMES = ("fixed", "gp-ucb", "et-gp-ucb", "auto", "auto+load", "retuned")


def sweep(server, rng, rounds, seconds):
    """The best read-ahead for each load, by the median of several rounds, each in an order of its own."""
    tried, took, best = [2**power for power in range(9)], np.empty((rounds, 9)), {}
    print("sweep   ", *(f"{ahead:6}" for ahead in tried), "rows at a time")
    for load in LOADS:
        for i in range(rounds):
            for j in rng.permutation(9):
                took[i, j] = measure(server, load, tried[j], i, seconds)
        best[load] = tried[np.median(took, axis=0).argmin()]
        print(f"{load:8}", *(f"{median:6.1f}" for median in np.median(took, axis=0)), "best:", best[load])
    return best


def contest(servers, best, seed, loads, seconds):
    """Settings and times, steps x contestants, and the steps of resets by name."""
    opts = {name: wv.make(name, wv.Space(ahead=KNOB), goal="minimize", seed=seed) for name in NAMES[1:4]}
    opts["auto+load"] = wv.make(wv.Space(ahead=KNOB, run=RUN), goal="minimize", seed=seed)
    settings, times, resets = [], [], {name: [] for name in NAMES}
    for step, load in enumerate(loads):
        seen = {"run": run_length(loads[max(step - 1, 0)], step)}
        asked = {name: opt.ask(context=seen if opt.space.contexts else None) for name, opt in opts.items()}
        tried = {"fixed": best[loads[0]], "retuned": best[load]} | {n: x["ahead"] for n, x in asked.items()}
        settings.append([tried[name] for name in NAMES])
        times.append([measure(servers[name], load, tried[name], step, seconds) for name in NAMES])
        for name, opt in opts.items():  # waste and noise are factors, hence the logarithm
            event = opt.tell(asked[name], math.log(times[-1][NAMES.index(name)]))
            resets[name] += [step] * event.reset
    return np.array(settings), np.array(times), resets


def draw(settings, times, resets):
    """The settings that were tried, and how long requests took."""
    figure, ((above,), (below,)) = style.sheet(2, 1, (8, 5.4), sharex=True)
    for (name, look), ahead, took in zip(style.looks(NAMES).items(), settings.T, times.T, strict=True):
        calm = [np.median(took[max(0, i - 3) : i + 4]) for i in range(len(took))]
        above.plot(ahead, **look.line | {"lw": 1})
        below.plot(calm, label=name, **look.line)
        below.plot(resets[name], [times.min()] * len(resets[name]), "^", color=look.colour)
    above.set(ylabel="rows read at a time", yscale="log", title=", then ".join(PHASES))
    below.set(ylabel="microseconds, median of 7", yscale="log", xlabel="step (triangles: resets)")
    for axis in (above.yaxis, below.yaxis):
        axis.set(major_formatter="{x:g}", minor_formatter="")
    style.legend(figure, below, 6)
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--short", action="store_true", help="a few steps, too few to judge by")
    parser.add_argument("--out", type=Path, default=".", metavar="FOLDER", help="where the picture goes")
    parser.add_argument("--seed", type=int, default=0, help="of the optimisers; the times have none")
    given = parser.parse_args()
    phase, seconds, rounds = (3, 0.01, 1) if given.short else (40, 0.1, 9)
    with tempfile.TemporaryDirectory() as folder:
        fill(f"{folder}/rows.db")
        servers = {name: start(f"{folder}/rows.db") for name in NAMES}
        best = sweep(servers["fixed"], np.random.default_rng(given.seed), rounds, seconds)
        settings, times, resets = contest(servers, best, given.seed, np.repeat(PHASES, phase), seconds)
        for server in servers.values():
            server.communicate()  # the end of its input: it leaves
    print("microseconds per request  all", *(f"{load:>7}" for load in PHASES))
    for name, took in zip(NAMES, times.T, strict=True):
        means = (f"{np.exp(np.log(part).mean()):7.1f}" for part in (took, *np.split(took, len(PHASES))))
        print(f"{name:22}", *means, "  resets", *(resets[name] or ["none"]))
    given.out.mkdir(parents=True, exist_ok=True)
    draw(settings, times, resets).savefig(given.out / "cache-under-load.png", dpi=130)
