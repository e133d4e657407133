"""Tasks: objectives that change over time, each with its optimum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from windvane.checks import one_of
from windvane.errors import InvalidArgument
from windvane.tasks.affine import units
from windvane.tasks.analytic import (
    branin_walk,
    breaking_plant,
    hartmann3_mirrored,
    levy_still,
    moving_peaks,
    valve,
)
from windvane.tasks.arms import Humid, LocalChange
from windvane.tasks.base import Constrained, Optimum, Task
from windvane.tasks.deng import Deng
from windvane.tasks.drive import Drive
from windvane.tasks.features import WithinModelFeatures
from windvane.tasks.following_load import FollowingLoad
from windvane.tasks.guarded import GuardedDrift, GuardedJumps
from windvane.tasks.jumps import Jumps
from windvane.tasks.observed import heavy_tails, misjudged_noise, small_units, with_outliers
from windvane.tasks.oven import Oven
from windvane.tasks.policy_search import PolicySearch
from windvane.tasks.rate_change import RateChange
from windvane.tasks.recipes import Recipes
from windvane.tasks.regimes import regimes, workload
from windvane.tasks.rough import Rough
from windvane.tasks.seasonal import Seasonal
from windvane.tasks.standard import AckleyShift, HartmannShift
from windvane.tasks.still import still
from windvane.tasks.stocks import Stocks
from windvane.tasks.table import Table
from windvane.tasks.temperature import Temperature
from windvane.tasks.within_model import WithinModel, within_model
from windvane.tasks.wrappers import jump, noise, outliers, rate, shift


@dataclass(frozen=True)
class TaskEntry:
    """A line of help and how the task is made."""

    summary: str
    make: Callable[..., Task]
    options: tuple[str, ...]


WITHIN_MODEL = ("rate", "horizon", "seed", "lengthscale", "noise_variance", "dim", "grid", "features")
GRID = ("horizon", "seed", "lengthscale", "noise_variance", "grid")

TASKS: dict[str, TaskEntry] = {
    "within-model": TaskEntry(
        "a sample of the Markov chain of Assumption 2 in any dimension (Section 6.2.1)",
        within_model,
        WITHIN_MODEL,
    ),
    "rate-change": TaskEntry(
        "within-model on the unit square, faster from t = 175 on (Appendix A.2)",
        RateChange,
        ("rate", "later_rate", "switch", *GRID),
    ),
    "jumps": TaskEntry(
        "within-model on the unit square that stands still, and of which a share is replaced at jumps",
        Jumps,
        ("share", "count", *GRID),
    ),
    "seasonal": TaskEntry(
        "within-model on the unit square that drifts to its opposite and back, over and over",
        Seasonal,
        ("period", *GRID),
    ),
    "outliers": TaskEntry(
        "within-model, where one observation in fifty is far off",
        with_outliers,
        ("share", "size", *WITHIN_MODEL),
    ),
    "misjudged-noise": TaskEntry(
        "within-model, where the noise variance that algorithms are told is wrong by a factor",
        misjudged_noise,
        ("factor", *WITHIN_MODEL),
    ),
    "heavy-tails": TaskEntry(
        "within-model in large units, with Student's noise of 3 degrees of freedom",
        heavy_tails,
        ("degrees", *WITHIN_MODEL),
    ),
    "small-units": TaskEntry(
        "within-model in units of 1e-6 around an offset of 1 to 10",
        small_units,
        WITHIN_MODEL,
    ),
    "rough": TaskEntry(
        "a sample of a Matern-3/2 process on the unit square: still, drifting, or replaced at random steps",
        Rough,
        ("rate", "count", *GRID),
    ),
    "regimes": TaskEntry(
        "a few within-model functions between which the world switches at random steps, and which return",
        regimes,
        ("regimes", "count", "change", *GRID),
    ),
    "workload": TaskEntry(
        "within-model that stands still, but all values are multiplied and shifted at random steps",
        workload,
        ("count", *(option for option in WITHIN_MODEL if option != "rate")),
    ),
    "moving-peaks": TaskEntry(
        "the highest of a few bells, which move a little every so many steps (after Branke 1999)",
        moving_peaks,
        ("dim", "peaks", "every", "step", "horizon", "seed", "noise_variance"),
    ),
    "branin-walk": TaskEntry(
        "Branin's function, moved along a slow smooth walk",
        branin_walk,
        ("horizon", "seed", "noise_variance"),
    ),
    "hartmann3-mirrored": TaskEntry(
        "Hartmann's function, d = 3, of which axes are mirrored at random steps",
        hartmann3_mirrored,
        ("count", "horizon", "seed"),
    ),
    "valve": TaskEntry(
        "one or two settings whose best place follows the day",
        valve,
        ("dim", "period", "horizon", "seed"),
    ),
    "breaking-plant": TaskEntry(
        "efficiency over three settings, of which the best part is lost at a random step",
        breaking_plant,
        ("horizon", "seed"),
    ),
    "following-load": TaskEntry(
        "two settings whose best place follows a load that is measured, and drifts slowly besides",
        FollowingLoad,
        ("horizon", "seed", "noise_variance", "hidden"),
    ),
    "guarded": TaskEntry(
        "within-model on the unit square, with one or two quantities that drift as well and are limited",
        GuardedDrift,
        ("count", "rate", "constraint_rate", *GRID),
    ),
    "guarded-jumps": TaskEntry(
        "within-model on the unit square that stands still; what is limited is replaced at random steps",
        GuardedJumps,
        ("count", *GRID),
    ),
    "oven": TaskEntry(
        "power and speed of an oven that must stay below 90 °C while the hall warms and cools",
        Oven,
        ("swing", "period", "horizon", "seed", "noise_variance", "measured"),
    ),
    "drive": TaskEntry(
        "the gains of a drive that must not overshoot, and whose load is exchanged at random steps",
        Drive,
        ("count", "horizon", "seed", "noise_variance"),
    ),
    "recipes": TaskEntry(
        "a list of recipes with four coordinates, of which two matter, whose values drift",
        Recipes,
        ("count", "rate", "horizon", "seed", "noise_variance"),
    ),
    "levy": TaskEntry(
        "Levy's function, mirrored and moved by the seed; nothing changes",
        levy_still,
        ("dim", "horizon", "seed", "noise_variance"),
    ),
    "still": TaskEntry(
        "nothing changes: kinks, a cliff, a ridge, a plateau, losses over decades, or a fractal",
        still,
        ("kind", "dim", "scale", "offset", "noise", "horizon", "seed"),
    ),
    "ackley-shift": TaskEntry(
        "Ackley's function, d = 2, moved after half of the steps (Appendix A.4)",
        AckleyShift,
        ("dim", "horizon", "seed", "noise_variance", "shift"),
    ),
    "hartmann-shift": TaskEntry(
        "Hartmann's function, d = 6, moved after half of the steps (Appendix A.4)",
        HartmannShift,
        ("horizon", "seed", "noise_variance", "shift"),
    ),
    "policy-search": TaskEntry(
        "the feedback gain of a cart-pole whose friction grows at t = 100 (Section 6.2.3)",
        PolicySearch,
        ("seed", "horizon", "change", "factor", "noise_variance", "floor", "initial"),
    ),
    "deng-abrupt": TaskEntry(
        "one-dimensional, jumps at t = 100 and 200 (stand-in for Deng et al. 2022, a)",
        partial(Deng, "abrupt"),
        ("seed", "horizon", "lengthscale", "noise_variance", "magnitude"),
    ),
    "deng-slow": TaskEntry(
        "one-dimensional, drifts slowly (stand-in for Deng et al. 2022, b)",
        partial(Deng, "slow"),
        ("seed", "horizon", "lengthscale", "noise_variance", "magnitude"),
    ),
    "table": TaskEntry(
        "any table of numbers, in memory or in a file: rows are moments, columns are arms",
        Table,
        ("values", "file", "train_rows", "test_rows", "noise_variance", "shrinkage", "seed"),
    ),
    "local-change": TaskEntry(
        "61 arms, where a part of each arm alone changes fast and what they share slowly; tiny noise",
        LocalChange,
        ("horizon", "seed", "noise_variance"),
    ),
    "humid": TaskEntry(
        "44 arms with levels that drift slowly, and a common trend (stand-in for humidity)",
        Humid,
        ("horizon", "seed", "noise_variance"),
    ),
    "temperature": TaskEntry(
        "the warmest of the sensors in the Intel Berkeley lab, or of a stand-in for it (Section 6.2.2)",
        Temperature,
        ("days", "data", "synthetic", "verify", "seed", "noise_variance"),
    ),
    "stocks": TaskEntry(
        "the highest of daily share prices (stand-in for Deng et al. 2022, c)",
        Stocks,
        ("data", "skfolio", "normalise", "prior", "noise_variance", "seed"),
    ),
}


def tasks() -> list[str]:
    """The names that `task` knows.

    >>> "within-model" in tasks()
    True
    """
    return list(TASKS)


def task(name: str, **options: Any) -> Task:
    """A task by name.

    >>> task("within-model", rate=0.03, horizon=50, seed=0).horizon
    50
    """
    entry = TASKS[one_of("name", name, TASKS)]
    unknown = sorted(set(options) - set(entry.options))
    if unknown:
        raise InvalidArgument(
            f"task({name!r}): does not use {unknown[0]}=; its options are {', '.join(sorted(entry.options))}"
        )
    return entry.make(**options)


__all__ = [
    "TASKS",
    "AckleyShift",
    "Constrained",
    "Deng",
    "Drive",
    "FollowingLoad",
    "GuardedDrift",
    "GuardedJumps",
    "HartmannShift",
    "Humid",
    "Jumps",
    "LocalChange",
    "Optimum",
    "Oven",
    "PolicySearch",
    "RateChange",
    "Rough",
    "Seasonal",
    "Task",
    "TaskEntry",
    "WithinModel",
    "WithinModelFeatures",
    "branin_walk",
    "breaking_plant",
    "hartmann3_mirrored",
    "heavy_tails",
    "jump",
    "levy_still",
    "misjudged_noise",
    "moving_peaks",
    "noise",
    "outliers",
    "rate",
    "regimes",
    "shift",
    "small_units",
    "still",
    "task",
    "tasks",
    "units",
    "valve",
    "with_outliers",
    "within_model",
    "workload",
]
