"""`calibrate`: what a choice of delta, or of a trigger, does in your setting, by simulation."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import Any

from windvane.algorithms import ALGORITHMS, make
from windvane.calibration.jobs import all_runs, check_jobs, length_and_jump, refuse_contexts
from windvane.calibration.report import Calibration
from windvane.calibration.rows import CalibrationRow, delays_of
from windvane.calibration.runs import CalibrationPlan, one_run
from windvane.checks import integer, one_of, probability, real
from windvane.errors import InvalidArgument, InvalidType, WindvaneError
from windvane.kernels import Kernel, SpaceTime, Static
from windvane.optimizer import Optimizer
from windvane.spaces.base import Domain, listed
from windvane.triggers import Trigger

DELTAS = (0.01, 0.05, 0.1, 0.2)
JUMPS = (0.1, 0.3, 1.0)


def calibrate(
    algorithm: str,
    space: Domain,
    *,
    deltas: Sequence[float] | None = None,
    triggers: Sequence[Trigger] | None = None,
    steps: int = 200,
    jumps: Sequence[float] = JUMPS,
    jump_at: int | None = None,
    runs: int = 200,
    seed: int = 0,
    true_kernel: Kernel | None = None,
    true_noise_variance: float | None = None,
    jobs: int | Executor = 1,
    on_progress: Callable[[int, int], None] | None = None,
    **options: Any,
) -> Calibration:
    """How often each delta raises a false alarm in your setting, and how soon it notices a jump.

    Functions are drawn from the kernel, exactly and on any space, and the algorithm runs on each of them
    for `steps` steps. While the function stands still every alarm is a false one. In further runs, equal
    up to there, it jumps at step `jump_at` (the middle unless stated): a jump of size s in (0, 1]
    replaces a share s of the function's variance, f -> sqrt(1 - s) f + sqrt(s) g, so that 1 is an entirely
    new function. The delay counts observations from the jump up to the one that makes a reset, a forced
    one included; what was reset before the jump does not matter.

    Give `deltas`, or `triggers` to compare any triggers on the same runs. All other options are those of
    `make`. Algorithms are told `kernel` and `noise_variance`; the truth is the same unless
    `true_kernel` or `true_noise_variance` says otherwise, which shows the price of a wrong guess.
    What is left for the algorithm to learn must be told as the truth.

    With `jobs` above 1 runs are shared among processes (guard your script with
    `if __name__ == "__main__":`), or hand in an executor of your own; the report is the same.
    `on_progress(done, total)` is called before the first run, with 0, and after each.

    >>> import windvane as wv
    >>> line, prior = wv.Box([(0, 1)]), {"kernel": wv.RBF(0.2), "noise_variance": 0.02}
    >>> report = calibrate("et-gp-ucb", line, **prior, deltas=(0.01, 0.1), steps=20, jumps=(1.0,), runs=5)
    >>> print(report)
    et-gp-ucb on Box(...), kernel RBF(...), noise variance 0.02
    <BLANKLINE>
               false alarms                          jump 1
    delta     runs with any  number per run  delay, noticed
    -----  ----------------  --------------  --------------
    0.01   0.0% (0.0–43.4%)     0.00 ± 0.00 ...
    0.1    0.0% (0.0–43.4%)     0.00 ± 0.00 ...
    ...
    >>> report.choose(false_alarms=0.05) in (0.01, 0.1)
    True
    """
    refuse_contexts(space)
    told = {"kernel": options.get("kernel"), "noise_variance": options.get("noise_variance")}
    kind, choices = _choices(deltas, triggers, options)
    made = _contestants(algorithm, space, kind, choices, options)
    kernel, noise = _truth(space, told, true_kernel, true_noise_variance)
    length, when = length_and_jump(steps, jump_at)
    plan = CalibrationPlan(
        space=space,
        goal=made[0].goal,
        contestants=tuple(optimizer.composition for optimizer in made),
        kernel=kernel,
        noise_variance=noise,
        steps=length,
        jump_at=when,
        jumps=_jumps(jumps),
        seed=integer("seed", seed, at_least=0),
    )
    count = integer("runs", runs, at_least=2)
    check_jobs(jobs, on_progress)
    records = all_runs(partial(one_run, plan), count, jobs, on_progress)
    rows = tuple(
        CalibrationRow(
            choice=choice,
            label=_label(choice),
            alarms=tuple(record.alarms[number] for record in records),
            delays=delays_of([record.delays[number] for record in records]),
            jumps=plan.jumps,
            rest=plan.steps - plan.jump_at + 1,
        )
        for number, choice in enumerate(choices)
    )
    about = _about(space, told, kernel, noise)
    return Calibration(algorithm, about, kind, rows, plan.jumps, plan.steps, plan.jump_at, count, plan.seed)


# -- what was asked for ----------------------------------------------------------------------------------


def _choices(deltas: Any, triggers: Any, options: dict[str, Any]) -> tuple[str, list[Any]]:
    for option, plural in (("delta", "deltas"), ("trigger", "triggers")):
        if options.pop(option, None) is not None:
            raise InvalidArgument(f"{option}=: give {plural}=[...], the ones to compare")
    if deltas is not None and triggers is not None:
        raise InvalidArgument("deltas=, triggers=: give one of the two; a trigger has its own delta")
    if triggers is None:
        given = listed("deltas", DELTAS if deltas is None else deltas, "numbers between 0 and 1")
        return "delta", _distinct("deltas", [probability("deltas", delta) for delta in given])
    given = listed("triggers", triggers, "triggers such as wv.PosteriorBound(0.1)")
    for trigger in given:
        if isinstance(trigger, type) or not isinstance(trigger, Trigger):
            raise InvalidType(f"triggers: {trigger!r} must be an instance such as wv.PosteriorBound(0.1)")
    return "trigger", _distinct("triggers", given)


def _distinct(name: str, values: list[Any]) -> list[Any]:
    labels = [_label(value) for value in values]
    for label in labels:
        if labels.count(label) > 1:
            raise InvalidArgument(f"{name}: {label} is there twice")
    return values


def _label(choice: Any) -> str:
    """A delta, or a trigger with its delta and what is not as usual.

    >>> from windvane.triggers import PosteriorBound
    >>> _label(0.05), _label(PosteriorBound(0.1)), _label(PosteriorBound(0.1, noise_cap=0.5))
    ('0.05', 'PosteriorBound(delta=0.1)', 'PosteriorBound(delta=0.1, noise_cap=0.5)')
    """
    if isinstance(choice, float):
        return f"{choice:.12g}"
    if not dataclasses.is_dataclass(choice):
        return repr(choice)
    shown = []
    for field in dataclasses.fields(choice):
        value = getattr(choice, field.name)
        if field.name == "delta" and value is not None:
            shown.append(f"delta={_label(value)}")
        elif field.default is dataclasses.MISSING:
            shown.append(_label(value))
        elif value != field.default:
            shown.append(f"{field.name}={_label(value)}")
    return f"{type(choice).__name__}({', '.join(shown)})"


def _contestants(
    algorithm: str, space: Domain, kind: str, choices: list[Any], options: dict[str, Any]
) -> list[Optimizer]:
    name = one_of("algorithm", algorithm, ALGORITHMS)
    triggered = [other for other, known in ALGORITHMS.items() if {"delta", "trigger"} <= set(known.options)]
    if name not in triggered:
        raise InvalidArgument(
            f"algorithm={name!r}: has no trigger to calibrate; those that have: {', '.join(triggered)}"
        )
    found = [make(name, space, seed=0, **{kind: choice}, **options) for choice in choices]
    if found[0].model.temporal != Static():
        raise InvalidArgument(
            "kernel: the simulated function stands still and then jumps; give the spatial kernel only"
        )
    return found


def _truth(
    space: Domain, told: dict[str, Any], true_kernel: Any, true_noise_variance: Any
) -> tuple[Kernel, float]:
    kernel = told["kernel"] if true_kernel is None else true_kernel
    noise = told["noise_variance"] if true_noise_variance is None else true_noise_variance
    if kernel is None:
        raise InvalidArgument(
            "kernel: needed to draw functions from; give kernel= (wv.fit finds one from past measurements), "
            "or true_kernel= if the algorithm is to learn its own"
        )
    if noise is None:
        raise InvalidArgument(
            "noise_variance: needed to simulate with; give noise_variance=, or true_noise_variance= if the "
            "algorithm is to learn its own"
        )
    if true_kernel is not None:
        if isinstance(true_kernel, SpaceTime):
            raise InvalidArgument(
                "true_kernel: the function stands still and then jumps; give the spatial kernel only"
            )
        try:
            make("gp-ucb", space, kernel=true_kernel, noise_variance=1.0, seed=0)
        except WindvaneError as error:
            raise type(error)(f"true_{error}") from None
    found: Kernel = kernel.space if isinstance(kernel, SpaceTime) else kernel
    return found, real("true_noise_variance", noise, at_least=0.0)


def _jumps(jumps: Any) -> tuple[float, ...]:
    given = listed("jumps", jumps, "numbers above 0 and at most 1")
    return tuple(_distinct("jumps", [real("jumps", jump, above=0.0, at_most=1.0) for jump in given]))


def _about(space: Domain, told: dict[str, Any], kernel: Kernel, noise: float) -> str:
    """Space, kernel and noise, and where the algorithm believes otherwise."""
    parts = [f"{space}, kernel {kernel}", f"noise variance {noise:g}"]
    for name, text in (("kernel", f"{told['kernel']}"), ("noise_variance", f"{told['noise_variance']}")):
        truth = kernel if name == "kernel" else noise
        if told[name] is None:
            parts.append(f"{name} learned")
        elif told[name] != truth:
            parts.append(f"told {name}={text}")
    return ", ".join(parts)
