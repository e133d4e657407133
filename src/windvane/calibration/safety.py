"""`calibrate_safety`: how often a level of `safe` is broken in your setting, by simulation."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

import numpy as np

from windvane.algorithms import make
from windvane.calibration.jobs import OnProgress, all_runs, check_jobs, length_and_jump, refuse_contexts
from windvane.calibration.safety_report import SafetyCalibration, SafetyRow
from windvane.calibration.safety_runs import Quantity, SafetyPlan, safety_run
from windvane.checks import integer, real
from windvane.composition import Constraints
from windvane.constraints import Constraint, constraint_names
from windvane.errors import InvalidArgument, WindvaneError
from windvane.kernels import Kernel, Matern52, SpaceTime
from windvane.optimizer import Optimizer
from windvane.options.declared import RESERVED
from windvane.spaces import Arms
from windvane.spaces.base import Domain, listed

SAFE = (0.9, 0.95, 0.99)
LENGTHSCALE = 0.3  # of the default kernel, as a share of each range
NOISE = 0.01  # the default noise variance, as a share of the variance of what is measured
MARGIN = 0.5  # standard deviations


def calibrate_safety(
    space: Domain,
    *,
    constraints: dict[str, Constraint],
    safe: float | Sequence[float] = SAFE,
    start: Sequence[Any] | None = None,
    algorithm: str = "auto",
    steps: int = 100,
    rate: float = 0.0,
    jumps: Sequence[float] = (),
    jump_at: int | None = None,
    margin: float = MARGIN,
    runs: int = 40,
    seed: int = 0,
    true_constraints: dict[str, Constraint] | None = None,
    true_kernel: Kernel | None = None,
    true_noise_variance: float | None = None,
    jobs: int | Executor = 1,
    on_progress: OnProgress | None = None,
    **options: Any,
) -> SafetyCalibration:
    """How often what is asked for violates a constraint, for each level of `safe`, in your setting.

    Constraints and objective are drawn from their kernels, exactly and on any space, and drift as the Markov
    chain at `rate` per step. The algorithm runs on them for `steps` steps under each level, with the same
    luck. In further runs a share of all variances is replaced at step `jump_at`, for each size in `jumps`.

    The kernel and the noise variance of a constraint are what it is drawn from, and what the algorithm is
    told; its mean is then 0, as it is in the model. `true_constraints`, of the same names, are what it is
    drawn from if not that, so that the algorithm has to learn it, or is wrong. A quantity of which nothing is
    told has its limit for a mean, so that half of the space is safe. The same holds for the objective:
    `kernel=`, `noise_variance=`, `true_kernel=`, `true_noise_variance=`. What nobody says is a Matérn 5/2
    kernel with lengthscale 0.3 and variance 1, and a hundredth of it as noise; the report says so.

    `start` are settings that are safe at step 1, by at least `margin` of a constraint's standard deviations;
    by default the middle of the space. Other options are those of `make`, and `jobs` and `on_progress` are as
    of `calibrate`.

    >>> import windvane as wv
    >>> report = calibrate_safety(
    ...     wv.Box([(0, 1)]), constraints={"heat": wv.AtMost(90, unit="°C")}, safe=[0.9], steps=8, runs=4
    ... )
    >>> report.rows[0].safe, 0.0 <= report.rows[0].share <= 1.0
    (0.9, True)
    """
    refuse_contexts(space)
    constraints = constraint_names(constraints, RESERVED)
    levels = [safe] if isinstance(safe, float) else listed("safe", safe, "probabilities, 0.5 to below 1")
    if len({*levels}) < len(levels):
        raise InvalidArgument(f"safe={safe!r}: each level once")
    settings = [_middle(space)] if start is None else start
    asked = {**options, "constraints": constraints, "start": settings, "seed": 0}
    made = [make(algorithm, space, **asked, safe=level) for level in levels]
    truth = _truths(constraints, true_constraints)
    assumed: list[str] = []
    followed: Constraints = made[0].composition.constraints  # type: ignore[assignment]  # there are some
    limited = []
    for one in followed.each:
        mean = one.constraint.limit if one.composition.rescale else 0.0
        of = truth[one.name]
        known = _quantity(one.name, space, of.kernel, of.noise_variance, mean, assumed)
        limited.append((one.name, one.constraint, known))
    told = (options.get("kernel"), options.get("noise_variance"))
    kernel = told[0] if true_kernel is None else true_kernel
    noise = told[1] if true_noise_variance is None else true_noise_variance
    objective = _quantity("the objective", space, kernel, noise, 0.0, assumed)
    length, when = length_and_jump(steps, jump_at)
    sizes = [real("jumps", each, above=0.0, at_most=1.0) for each in jumps]
    plan = SafetyPlan(
        space=space,
        goal=made[0].goal,
        contestants=tuple(optimizer.composition for optimizer in made),
        objective=objective,
        constraints=tuple(limited),
        start=followed.start,
        margin=real("margin", margin, at_least=0.0),
        rate=real("rate", rate, at_least=0.0, at_most=1.0),
        jumps=(0.0, *dict.fromkeys(sizes)),
        jump_at=when,
        steps=length,
        seed=integer("seed", seed, at_least=0),
    )
    count = integer("runs", runs, at_least=2)
    check_jobs(jobs, on_progress)
    records = all_runs(partial(safety_run, plan), count, jobs, on_progress)
    rows = tuple(
        SafetyRow(
            safe=level,
            jump=jump,
            violations=tuple(record.violations[i][j] for record in records),
            gains=np.array([record.gains[i][j] for record in records]) / _spread(objective, followed.start),
            steps=length,
        )
        for i, level in enumerate(levels)
        for j, jump in enumerate(plan.jumps)
    )
    return SafetyCalibration(
        algorithm=algorithm,
        about=_about(made[0], plan),
        assumed=tuple(assumed),
        rows=rows,
        rate=plan.rate,
        jump_at=plan.jump_at,
        margin=plan.margin,
        steps=length,
        runs=count,
        seed=plan.seed,
    )


def _middle(space: Any) -> Any:
    """A setting to begin with, where nobody says any."""
    if not isinstance(space, Domain):
        raise InvalidArgument(f"space={space!r}: must be a wv.Box, wv.Arms, wv.Candidates or wv.Space")
    if space.enumerated:
        return space.decode(space.sample(np.random.default_rng(0), 1)[0])
    return space.decode(np.full(space.dim, 0.5))


def _truths(told: dict[str, Constraint], true: Any) -> dict[str, Constraint]:
    """What each constraint is drawn from; what is not said of the truth is what was told."""
    if true is None:
        return told
    true = constraint_names(true, RESERVED)
    if set(true) - set(told):
        raise InvalidArgument(
            f"true_constraints: has {', '.join(set(true) - set(told))}, which constraints= has not"
        )
    for name, constraint in true.items():
        if (type(constraint), constraint.limit) != (type(told[name]), told[name].limit):
            raise InvalidArgument(
                f"true_constraints[{name!r}]: is {constraint}, where constraints= has {told[name]}; only "
                "kernel and noise_variance may differ"
            )
    return {**told, **true}


def _quantity(name: str, space: Domain, kernel: Any, noise: Any, mean: float, assumed: list[str]) -> Quantity:
    """What a quantity is drawn from; notes what is assumed."""
    if isinstance(kernel, SpaceTime):
        kernel = kernel.space  # rate= says how it moves
    if kernel is None:
        if isinstance(space, Arms):
            raise InvalidArgument(
                f"{name}: needs a kernel to be drawn from on arms, such as wv.Empirical(...): "
                "true_constraints= of a constraint, true_kernel= of the objective"
            )
        kernel = Matern52(LENGTHSCALE)
        assumed.append(f"{name} has the kernel {kernel}")
    try:
        make("gp-ucb", space, kernel=kernel, noise_variance=1.0, seed=0)
    except WindvaneError as error:
        raise type(error)(f"{name}: {error}") from None
    if noise is None:
        noise = NOISE * float(kernel.diagonal(space.sample(np.random.default_rng(0), 1))[0])
        assumed.append(f"{name} has a noise variance of {noise:g}")
    return Quantity(kernel, mean, real(f"noise variance of {name}", noise, at_least=0.0))


def _spread(of: Quantity, start: Any) -> float:
    """The standard deviation of a quantity."""
    return float(np.sqrt(of.kernel.diagonal(np.array(start[:1]))[0])) or 1.0


def _about(optimizer: Optimizer, plan: SafetyPlan) -> str:
    """The space, and what each constraint is drawn from."""
    limits = ", ".join(
        f"{name} {limit} (kernel {of.kernel}, noise variance {of.noise_variance:g})"
        for name, limit, of in plan.constraints
    )
    return f"{optimizer.space}, {limits}"
