"""`windvane calibrate --safe`: what of the command line is about constraints."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from windvane.calibration import SAFE
from windvane.checks import integer, one_of
from windvane.errors import InvalidArgument
from windvane.spaces import Box
from windvane.spelling import spelt_constraints

SAFE_RUNS, SAFE_QUICK, SAFE_STEPS = 40, 10, 100
LIMIT = "g<=0"  # half of the space, on average
OWN = ("rate", "constraint", "told", "margin")  # arguments that say nothing without --safe
OTHERS = ("deltas", "trigger", "true_noise")  # and those that say nothing with it


def add_safety_arguments(verb: Any) -> None:
    """Those that belong to --safe."""
    levels = " ".join(f"{level:g}" for level in SAFE)
    verb.add_argument(
        "--safe",
        type=float,
        nargs="*",
        metavar="P",
        help=f"calibrate safety: levels of safe=, each 0.5 or more; without a number {levels}",
    )
    verb.add_argument(
        "--constraint",
        action="append",
        metavar="LIMIT",
        help=f'with --safe: "heat<=1", in standard deviations; may be repeated; default: "{LIMIT}"',
    )
    verb.add_argument("--rate", type=float, metavar="EPS", help="with --safe: drift per step; default: 0")
    verb.add_argument(
        "--told",
        action="store_true",
        default=None,
        help="with --safe: the algorithm is told kernel and noise; default: it learns them",
    )
    verb.add_argument(
        "--margin", type=float, metavar="M", help="with --safe: that the start keeps; default: 0.5"
    )


def refuse_without_safe(given: argparse.Namespace) -> None:
    """Say which of two questions an argument belongs to."""
    for name in OWN if given.safe is None else OTHERS:
        if getattr(given, name) is not None:
            spelt = f"--{name.replace('_', '-')}"
            needs = "belongs to --safe" if given.safe is None else "does not go with --safe"
            raise InvalidArgument(f"{spelt}: {needs}")


def asked_of_safety(given: argparse.Namespace, kernels: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `calibrate_safety`."""
    kernel = kernels[one_of("--kernel", given.kernel, kernels)](given.lengthscale)
    limits = spelt_constraints(given.constraint or [LIMIT], "--constraint")
    known = {
        name: replace(limit, kernel=kernel, noise_variance=given.noise_variance)
        for name, limit in limits.items()
    }
    asked: dict[str, Any] = {
        "space": Box([(0.0, 1.0)] * integer("--dim", given.dim, at_least=1)),
        "constraints": known if given.told else limits,
        "true_constraints": known,
        "algorithm": given.algorithm or "auto",
        "safe": given.safe or SAFE,
        "steps": SAFE_STEPS if given.steps is None else given.steps,
        "rate": given.rate or 0.0,
        "jumps": given.jumps or (),
        "jump_at": given.jump_at,
        "runs": given.runs if given.runs is not None else SAFE_QUICK if given.quick else SAFE_RUNS,
        "seed": given.seed,
    }
    if given.margin is not None:
        asked["margin"] = given.margin
    objective = {"kernel": kernel, "noise_variance": given.noise_variance}
    return asked | (objective if given.told else {f"true_{name}": value for name, value in objective.items()})
