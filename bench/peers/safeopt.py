"""SafeOpt, the package of its authors: told kernels and noise, asked and told step by step.

Version 0.16 is of 2019 and was written for the Python and NumPy of its day. What it uses and they no longer
have are three names, `collections.Sequence`, `np.float` and `np.bool`; they are given back here, before it is
imported, and nothing in it is changed.
"""

from __future__ import annotations

import collections
import collections.abc
import logging
import warnings
from itertools import product
from typing import Any

import numpy as np

for module, name, value in (
    (collections, "Sequence", collections.abc.Sequence),
    (np, "float", float),
    (np, "bool", np.bool_),
):
    if name not in vars(module):
        setattr(module, name, value)

import GPy  # noqa: E402
import safeopt  # noqa: E402

import windvane as wv  # noqa: E402
from windvane.tasks.base import Task  # noqa: E402

SIDES = {1: 201, 2: 50}  # points a side of the grid that it chooses from, by dimension
NO_LIMIT = -np.inf  # on the objective
logging.getLogger().setLevel(logging.ERROR)  # it warns on the root logger whenever its safe set shrinks
warnings.filterwarnings("ignore", "Conversion of an array with ndim > 0", DeprecationWarning)


class SafeOpt:
    """`SafeOpt` on a grid, or `SafeOptSwarm` where `swarm` is true.

    The first points are the task's `start`, which are added to the grid. `beta` is the number of standard
    deviations within the limits. `ucb` takes the point with the highest upper bound among the safe ones,
    in place of the most uncertain one of maximisers and expanders. With a `window`, only that many of the
    last observations are in the models.

    Where it finds no safe point it stops with an error. A live system cannot: then the point is asked for
    whose lower bound is highest, measured in each quantity from its limit, and `retreats` counts it.
    """

    def __init__(
        self,
        task: Task,
        seed: int,
        *,
        beta: float = 2.0,
        ucb: bool = False,
        swarm: bool = False,
        window: int | None = None,
    ) -> None:
        self.constraints = dict(task.constraints)  # type: ignore[attr-defined]
        self.start = [np.asarray(x, dtype=float) for x in task.start]  # type: ignore[attr-defined]
        self.task, self.beta, self.ucb, self.swarm, self.window = task, beta, ucb, swarm, window
        self.signs = np.array([1.0, *(limit.sign for limit in self.constraints.values())])
        limits = [limit.sign * limit.limit for limit in self.constraints.values()]
        self.floor = np.array([NO_LIMIT, *limits])
        self.dim = len(self.start[0])
        self.told, self.retreats = 0, 0
        self.peer: Any = None
        np.random.seed(seed)  # noqa: NPY002 - the swarm draws from the global generator

    def ask(self) -> np.ndarray:
        if self.told < len(self.start):
            return self.start[self.told]
        try:
            return np.array(self.peer.optimize(ucb=self.ucb), dtype=float)
        except (OSError, RuntimeError) as error:
            if "safe" not in str(error):
                raise
            self.retreats += 1
            return self._safest()

    def tell(self, x: np.ndarray, y: float, **outcomes: float) -> None:
        self.told += 1
        values = self.signs * np.array([y, *(outcomes[name] for name in self.constraints)])
        if self.peer is None:
            self.peer = self._made(np.atleast_2d(x), values)
            return
        self.peer.add_new_data_point(x, values)
        if self.window is not None:
            for gp in self.peer.gps:
                gp.set_XY(gp.X[-self.window :], gp.Y[-self.window :])

    def _made(self, x: np.ndarray, values: np.ndarray) -> Any:
        task: Any = self.task
        noise = [task.noise_variance, *(task.outcome_noise[name] for name in self.constraints)]
        gps = [
            GPy.models.GPRegression(x, np.array([[value]]), self._kernel(), noise_var=variance)
            for value, variance in zip(values, noise, strict=True)
        ]
        if self.swarm:
            return safeopt.SafeOptSwarm(gps, list(self.floor), [(0.0, 1.0)] * self.dim, beta=self.beta)
        return safeopt.SafeOpt(gps, self._points(), list(self.floor), beta=self.beta)

    def _kernel(self) -> Any:
        kernel = self.task.kernel
        if not isinstance(kernel, wv.RBF):
            raise TypeError(f"SafeOpt is told the kernel, which must be an RBF here, not {kernel!r}")
        (scale,) = set(kernel.lengthscale)
        return GPy.kern.RBF(self.dim, kernel.variance, scale)

    def _points(self) -> np.ndarray:
        axis = np.linspace(0.0, 1.0, SIDES[self.dim])
        grid = np.array(list(product(*[axis] * self.dim)))
        return np.vstack([grid, *self.start])

    def _safest(self) -> np.ndarray:
        points = self._points()
        lowest = np.full(len(points), np.inf)
        for gp, floor in zip(self.peer.gps[1:], self.floor[1:], strict=True):
            mean, variance = (each[:, 0] for each in gp.predict_noiseless(points))
            lowest = np.minimum(lowest, mean - self.beta * np.sqrt(variance) - floor)
        return np.asarray(points[np.argmax(lowest)])
