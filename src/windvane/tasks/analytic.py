"""Worlds made of functions that are written down: peaks that move, a walk, a valve, a plant, mirrors.

Places, moments and phases are drawn from the seed; the optimum is known exactly (see `shapes`). Values are in
whatever units they come in, and nobody is told a kernel.
"""

from __future__ import annotations

import math

import numpy as np

from windvane.checks import Array, integer, real
from windvane.spaces import Box
from windvane.tasks.affine import units
from windvane.tasks.changes import random_steps, stretches, walk
from windvane.tasks.observed import Observed
from windvane.tasks.shapes import BRANIN, LEVY, bells, branin, hartmann3, levy, lopsided
from windvane.tasks.transformed import Transformed

EVERY = 20  # steps between two moves of the peaks
HEIGHTS, WIDTHS = (30.0, 70.0), (8.0, 25.0)  # of peaks in a box of side 100
HEIGHT_STEP, WIDTH_STEP = 5.0, 1.5  # standard deviations of a move
MARGIN = 0.15  # a share of the range that optima keep from the walls
HARTMANN_UNITS = (120.0, 4000.0)  # scale and offset
DAY = 96  # steps: a quarter of an hour each
VALVE_UNITS = (-1200.0, 250.0, 90.0)  # the level, what the day adds to it, and the unit of the loss
PLANT = ((0.0, 100.0), (20.0, 80.0), (0.5, 3.0))  # the three settings of the plant
LOST, LEFT = (0.84, 0.93), (0.60, 0.74)  # efficiencies of the modes that break, and of those that do not
DROP = 0.08  # of the level when it breaks


def moving_peaks(
    *,
    dim: int = 2,
    peaks: int = 5,
    every: int = EVERY,
    step: float = 4.0,
    horizon: int = 200,
    seed: int = 0,
    noise_variance: float = 0.25,
) -> Transformed:
    """The highest of a few bells in [0, 100]^d, which move a little every so many steps.

    Every `every` steps each bell moves by `step` in a random direction, its height by a normal draw of
    standard deviation 5 and its width by one of 1.5; what would leave its range is reflected. Heights are
    within 30 to 70, widths within 8 to 25. This is the idea of the moving peaks of Branke (1999), "Memory
    enhanced evolutionary algorithms for changing optimization problems", with bells in place of cones.

    >>> task = moving_peaks(horizon=60, seed=1)
    >>> task.space.bounds[0], task.steps, task.optimum(1) == task.optimum(20)
    ((0.0, 100.0), (21, 41), True)
    """
    d = integer("dim", dim, at_least=1, at_most=20)
    m = integer("peaks", peaks, at_least=1, at_most=1000)
    pause = integer("every", every, at_least=1)
    length = real("step", step, at_least=0.0, at_most=100.0)
    last = integer("horizon", horizon, at_least=1)
    rng = np.random.default_rng((integer("seed", seed, at_least=0), 1))
    centres, heights = rng.uniform(0.0, 100.0, (m, d)), rng.uniform(*HEIGHTS, m)
    widths = rng.uniform(*WIDTHS, m)
    which = np.arange(last) // pause
    shapes = []
    for _ in range(int(which[-1]) + 1):
        roots = 100.0 / widths[:, None, None] * np.eye(d)
        shapes.append(bells(heights, centres / 100.0, roots))
        direction = rng.standard_normal((m, d))
        direction *= length / np.linalg.norm(direction, axis=1, keepdims=True)
        centres = _reflected(centres + direction, 0.0, 100.0)
        heights = _reflected(heights + HEIGHT_STEP * rng.standard_normal(m), *HEIGHTS)
        widths = _reflected(widths + WIDTH_STEP * rng.standard_normal(m), *WIDTHS)
    return Transformed(
        "moving-peaks",
        Box([(0.0, 100.0)] * d),
        shapes,
        horizon=last,
        which=which,
        noise_variance=noise_variance,
    )


def branin_walk(*, horizon: int = 200, seed: int = 0, noise_variance: float | None = None) -> Transformed:
    """Branin's function, turned over, on its usual box, with an input that is moved along a slow smooth walk.

    The peak at (pi, 2.275) stays at least 15 % of the range away from the walls; the other two may leave the
    box, and others come in.

    >>> task = branin_walk(seed=1)
    >>> [round(task.optimum(t), 4) for t in (1, 200)]
    [-0.3979, -0.3979]
    """
    shape, last = branin(), integer("horizon", horizon, at_least=1)
    rng = np.random.default_rng((integer("seed", seed, at_least=0), 1))
    moves = walk(rng, last, MARGIN - shape.peak, 1.0 - MARGIN - shape.peak)
    return Transformed(
        "branin-walk", Box(BRANIN), [shape], horizon=last, moves=moves, noise_variance=noise_variance
    )


def hartmann3_mirrored(*, count: int = 2, horizon: int = 200, seed: int = 0) -> Observed:
    """Hartmann's function with d = 3, of which some axes are mirrored at `count` random steps.

    Each time the first or the third axis is among them, so that the optimum moves by at least 0.7 of a
    range, and keeps its value. In units of 120 around 4000, with noise of one per cent of the spread.

    >>> task = hartmann3_mirrored(seed=1)
    >>> task.steps, [task.optimum(t).x.round(2).tolist() for t in (1, *task.steps)]
    ((67, 119), [[0.11, 0.56, 0.85], [0.11, 0.56, 0.15], [0.11, 0.44, 0.85]])
    """
    last, number = integer("horizon", horizon, at_least=1), integer("count", count, at_least=0)
    rng = np.random.default_rng((integer("seed", seed, at_least=0), 1))
    steps = random_steps(rng, last, number)
    mirrored = np.zeros((len(steps) + 1, 3), dtype=np.bool_)
    far = np.array([[True, False], [False, True], [True, True]])
    mirrored[1:, [0, 2]] = far[rng.integers(3, size=len(steps))]
    mirrored[1:, 1] = rng.random(len(steps)) < 0.5
    signs = np.where(np.logical_xor.accumulate(mirrored)[stretches(last, steps)], -1.0, 1.0)
    inner = Transformed("hartmann3-mirrored", Box([(0.0, 1.0)] * 3), [hartmann3()], horizon=last, signs=signs)
    return Observed(inner.name, units(inner, *HARTMANN_UNITS), steps=steps)


def levy_still(
    *, dim: int = 4, horizon: int = 200, seed: int = 0, noise_variance: float | None = None
) -> Transformed:
    """Levy's function, turned over, on [-10, 10]^d; the optimum, 0, is at a random place. Nothing changes.

    The axes are mirrored at random, and the function is moved so that the optimum is anywhere but in the
    outer 15 % of a range.

    >>> task = levy_still(seed=1)
    >>> float(abs(task.optimum(1))), task.optimum(1).x.round(1).tolist()
    (0.0, [0.1, 4.8, -4.3, -6.7])
    """
    d, last = integer("dim", dim, at_least=1, at_most=6), integer("horizon", horizon, at_least=1)
    rng = np.random.default_rng((integer("seed", seed, at_least=0), 1))
    signs, target = rng.choice([-1.0, 1.0], d), rng.uniform(MARGIN, 1.0 - MARGIN, d)
    shape = levy(d)
    return Transformed(
        "levy",
        Box([LEVY] * d),
        [shape],
        horizon=last,
        signs=np.tile(signs, (last, 1)),
        moves=np.tile(target - shape.peak, (last, 1)),
        noise_variance=noise_variance,
    )


def valve(*, dim: int = 1, period: int = DAY, horizon: int = 3 * DAY, seed: int = 0) -> Observed:
    """One or two settings from 0 to 100 whose best place follows the day, which has `period` steps.

    The best place is a wave of the day and one of half the day, of random phase; days differ a little in
    its size and its level. Being off costs more on one side than on the other. With `dim` 2 the settings have
    days of their own, and losses that are coupled. The level of all values follows the day too, by 250
    around -1200, and the best value is that level.

    >>> task = valve(seed=1)
    >>> task.horizon, task.period, [int(task.optimum(t).x[0]) for t in (1, 25, 49, 73, 97)]
    (288, 96, [63, 45, 20, 68, 63])
    """
    d, last = integer("dim", dim, at_least=1, at_most=2), integer("horizon", horizon, at_least=1)
    day = integer("period", period, at_least=4)
    rng = np.random.default_rng((integer("seed", seed, at_least=0), 1))
    centre = np.full(d, 0.5)
    places = np.stack([0.5 + 0.35 * _daily(rng, last, day) for _ in range(d)], axis=1)
    matrix = 5.0 * (np.eye(d) + 0.35 * np.eye(d, k=1))
    shape = lopsided(centre, matrix, lean=float(rng.choice([-0.7, 0.7])))
    inner = Transformed(
        "valve", Box([(0.0, 100.0)] * d), [shape], horizon=last, moves=np.clip(places, 0.05, 0.95) - centre
    )
    level, swing, unit = VALVE_UNITS
    task = units(inner, unit, level + swing * _daily(rng, last, day))
    return Observed(inner.name, task, period=day)


def breaking_plant(*, horizon: int = 200, seed: int = 0) -> Observed:
    """The efficiency of a plant over three settings, until at a random step a component breaks.

    The plant has five modes of operation, bells of random direction in the map of efficiency. Two need the
    component, and are the best; when it breaks they are lost, so that the optimum moves to the best of the
    others, on the other side of the map, and everything is lower by 0.08.

    >>> task = breaking_plant(seed=1)
    >>> task.steps, [round(task.optimum(t), 2) for t in (1, 200)]
    ((103,), [0.93, 0.58])
    """
    last = integer("horizon", horizon, at_least=1)
    rng = np.random.default_rng((integer("seed", seed, at_least=0), 1))
    steps = random_steps(rng, last, 1)
    side = rng.choice([-1.0, 1.0], 3)
    away = np.array([1.0, 1.0, -1.0, -1.0, -1.0])[:, None] * side * rng.uniform(0.1, 0.35, (5, 3))
    heights = np.concatenate((rng.uniform(*LOST, 2), rng.uniform(*LEFT, 3)))
    roots = np.stack([_root(rng, 3) for _ in range(5)])
    whole = bells(heights, 0.5 + away, roots)
    broken = bells(heights[2:], 0.5 + away[2:], roots[2:])
    which = stretches(last, steps)
    inner = Transformed("breaking-plant", Box(PLANT), [whole, broken], horizon=last, which=which)
    return Observed(inner.name, units(inner, 1.0, np.where(which > 0, -DROP, 0.0)), steps=steps)


def _reflected(values: Array, low: float, high: float) -> Array:
    """What is beyond a wall is as far within."""
    span = high - low
    turned = np.mod(values - low, 2.0 * span)
    return np.asarray(low + np.minimum(turned, 2.0 * span - turned))


def _daily(rng: np.random.Generator, horizon: int, period: int) -> Array:
    """A wave of the day and one of half of it, within about -1 and 1; each day a little different, T."""
    days = -(-horizon // period) + 2
    first, second = rng.uniform(0.0, 2.0 * math.pi, 2)
    share = rng.uniform(0.25, 0.4)
    size, level = 1.0 + 0.05 * rng.standard_normal(days), 0.04 * rng.standard_normal(days)
    time = np.arange(horizon) / period
    wave = (1.0 - share) * np.sin(2.0 * math.pi * time + first) + share * np.sin(
        4.0 * math.pi * time + second
    )
    noon = np.arange(days) - 0.5  # days change into one another slowly
    return np.asarray(np.interp(time, noon, size) * wave + np.interp(time, noon, level))


def _root(rng: np.random.Generator, dim: int) -> Array:
    """L of a bell with widths from 0.2 to 0.5 in random directions."""
    directions, _ = np.linalg.qr(rng.standard_normal((dim, dim)))
    return np.asarray(directions / rng.uniform(0.2, 0.5, dim)[:, None])
