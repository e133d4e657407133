"""`windvane calibrate`: false alarms and delays by simulation, so that delta is chosen by what it does."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

from windvane.calibration import DELTAS, JUMPS, Calibration, SafetyCalibration, calibrate, calibrate_safety
from windvane.checks import integer, one_of, real
from windvane.cli.calibrate_safety import (
    SAFE_QUICK,
    SAFE_RUNS,
    SAFE_STEPS,
    add_safety_arguments,
    asked_of_safety,
    refuse_without_safe,
)
from windvane.cli.reports import add_outputs, console_for, hand_out
from windvane.cli.running import progress
from windvane.cli.verbs import VerbParser
from windvane.entries import named_parts
from windvane.experiments.executors import Processes
from windvane.kernels import RBF, Matern32, Matern52
from windvane.spaces import Box

DESCRIPTION = """\
delta bounds the probability of a false alarm. It does not say how often one comes in practice, nor how soon a
change is noticed. Here both are measured on random functions drawn from your kernel, with your noise. While
they stand still, every alarm is a false one; then they jump, and observations are counted until the reset.
A jump of size s replaces a share s of the function's variance: 1 is an entirely new function.
With --safe, it is measured instead how often what is asked for violates a constraint, for each level."""

EPILOG = """\
examples:
  windvane calibrate                                        the paper's within-model setting
  windvane calibrate --dim 1 --lengthscale 0.3 --noise 0.1  your own
  windvane calibrate --trigger posterior-bound e-detector   each trigger with each delta, on the same runs
  windvane calibrate --noise 0.02 --true-noise 0.04         what if the noise is twice what was told?
  windvane calibrate --steps 500 --jump-at 401 --out calibration
  windvane calibrate --quick --allow 0.05                   a first impression, and a recommendation
  windvane calibrate --safe 0.9 0.95 0.99 --rate 0.01       how often does each level violate a constraint?
  windvane calibrate --safe 0.95 --told --constraint "heat<=1" --constraint "flow>=-0.5"

Lengthscales are shares of each parameter's range, and the function has unit variance: divide the variance of
your noise by that of your function. With --out FOLDER: calibration.txt, calibration.csv (one line per delta
and jump), calibration.json (every run), figure.png and figure.pdf. Any other space, kernel or option:
wv.calibrate in Python, docs/how-to/choose-delta.md."""

KERNELS: dict[str, Any] = {"rbf": RBF, "matern32": Matern32, "matern52": Matern52}
RUNS, QUICK = 200, 40
STEPS = 200


TRIGGERS = {  # those that a delta is all that has to be said of, by the name that people type
    name: kind for name, kind in named_parts("trigger").items() if "delta" in kind.__dataclass_fields__
}


def _list(values: Iterable[float]) -> str:
    return " ".join(f"{value:g}" for value in values)


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    verb.described(DESCRIPTION, EPILOG)
    shown = "default: %(default)s"
    verb.add_argument("--algorithm", help="default: et-gp-ucb; with --safe, auto")
    verb.add_argument("--dim", type=int, default=2, metavar="D", help=f"parameters, each in [0, 1]; {shown}")
    verb.add_argument("--kernel", default="rbf", help=f"{', '.join(KERNELS)}; {shown}")
    verb.add_argument(
        "--lengthscale",
        type=float,
        nargs="+",
        default=[0.2],
        metavar="L",
        help="one, or one each; default: 0.2",
    )
    verb.add_argument(
        "--noise",
        "--noise-variance",
        dest="noise_variance",
        type=float,
        default=0.02,
        metavar="VARIANCE",
        help=f"as told to the algorithm; {shown}",
    )
    verb.add_argument(
        "--true-noise", type=float, metavar="VARIANCE", help="of the simulation; default: as told"
    )
    verb.add_argument("--deltas", type=float, nargs="+", metavar="DELTA", help=f"default: {_list(DELTAS)}")
    verb.add_argument(
        "--trigger", nargs="+", metavar="NAME", help=f"{', '.join(TRIGGERS)}; default: the algorithm's own"
    )
    verb.add_argument(
        "--steps", type=int, metavar="N", help=f"of each run; default: {STEPS}, with --safe {SAFE_STEPS}"
    )
    verb.add_argument(
        "--jumps",
        type=float,
        nargs="+",
        metavar="SIZE",
        help=f"shares in (0, 1]; default: {_list(JUMPS)}, with --safe none",
    )
    verb.add_argument("--jump-at", type=int, metavar="STEP", help="default: in the middle of a run")
    verb.add_argument(
        "--runs",
        type=int,
        metavar="N",
        help=f"default: {RUNS}, or {QUICK} with --quick; with --safe {SAFE_RUNS}, or {SAFE_QUICK}",
    )
    verb.add_argument("--quick", action="store_true", help="few runs: an impression, not figures to quote")
    verb.add_argument(
        "--allow", type=float, metavar="SHARE", help="recommend for this share of false alarms, or violations"
    )
    add_safety_arguments(verb)
    verb.add_argument("--seed", type=int, default=0, help=shown)
    verb.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: cores)")
    add_outputs(verb)
    verb.set_defaults(run=run)


def run(given: argparse.Namespace) -> None:
    """Simulate, write, show."""
    refuse_without_safe(given)
    console = console_for(given)
    if given.allow is not None:
        real("--allow", given.allow, at_least=0.0, at_most=1.0)
    report: Calibration | SafetyCalibration = _watched(given)
    hand_out(report, given, console, name="calibration", records="calibration", unbroken=(0,))
    if given.allow is not None:
        text = _recommended(report, given.allow)
        console.print(text, style="bold", highlight=False, soft_wrap=True)


def _recommended(report: Calibration | SafetyCalibration, allow: float) -> str:
    if isinstance(report, SafetyCalibration):
        return f"Lowest with at most {allow:.1%} of points in violation: safe {report.choose(allow):g}"
    choice = report.label(report.choose(allow))
    return f"Soonest to notice with at most {allow:.1%} of runs in alarm: {report.kind} {choice}"


def _asked(given: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `calibrate`."""
    kernel = KERNELS[one_of("--kernel", given.kernel, KERNELS)]
    deltas = list(DELTAS) if given.deltas is None else given.deltas
    compared: dict[str, Any] = {"deltas": deltas}
    if given.trigger is not None:
        kinds = [TRIGGERS[one_of("--trigger", name, TRIGGERS)] for name in given.trigger]
        compared = {"triggers": [kind(delta=delta) for kind in kinds for delta in deltas]}
    return {
        "algorithm": given.algorithm or "et-gp-ucb",
        "space": Box([(0.0, 1.0)] * integer("--dim", given.dim, at_least=1)),
        "kernel": kernel(given.lengthscale),
        "noise_variance": given.noise_variance,
        "true_noise_variance": given.true_noise,
        "steps": STEPS if given.steps is None else given.steps,
        "jumps": JUMPS if given.jumps is None else given.jumps,
        "jump_at": given.jump_at,
        "runs": given.runs if given.runs is not None else QUICK if given.quick else RUNS,
        "seed": given.seed,
        **compared,
    }


def _watched(given: argparse.Namespace) -> Calibration | SafetyCalibration:
    """The report, with a bar that knows how long it will take."""
    work: Any = calibrate if given.safe is None else calibrate_safety
    asked = _asked(given) if given.safe is None else asked_of_safety(given, KERNELS)
    jobs = integer("--jobs", given.jobs, at_least=1)
    with ExitStack() as stack:
        on_progress = stack.enter_context(progress("runs", given.out))
        workers: Any = stack.enter_context(Processes(jobs).start()) if jobs > 1 else 1
        found: Calibration | SafetyCalibration = work(**asked, jobs=workers, on_progress=on_progress)
        return found
