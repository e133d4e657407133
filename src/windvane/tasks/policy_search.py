"""Policy search on a cart-pole whose bearing wears (Section 6.2.3, Appendix A; after Brunzema et al. 2022).

The state is z = (x, dx, phi, dphi): the cart's position, the pole's angle from upright, and their rates. The
cart follows a commanded speed u with a lag, and its acceleration tips the pole back; linearised at the top:

    T1 ddx  = K u - dx
    J ddphi = (m g l / 2) phi - xi dphi - (m l / 2) ddx,    J = m (l/2)^2 + m l^2 / 12 + m (d/2)^2 / 4

where T1 is the cart's lag, K its gain, xi the friction of the bearing, and J the inertia of the rod about it.
The gain to be found is theta in u = -theta z; both of its optima lie inside the paper's box with these signs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from windvane.checks import Array, integer, real
from windvane.kernels import RBF
from windvane.late import linalg, optimize
from windvane.spaces import Box
from windvane.surrogates import Gamma, Scaling, Search
from windvane.tasks.base import Optimum, index_of

LAG, GAIN, GRAVITY = 1.0, 1.0, 9.81
MASS, LENGTH, DIAMETER = 0.0804, 0.147, 0.005
INERTIA = MASS * ((LENGTH / 2.0) ** 2 + LENGTH**2 / 12.0 + (DIAMETER / 2.0) ** 2 / 4.0)
FRICTION = 2.2e-3
SAMPLE, STEPS = 0.02, 1000  # seconds; 20 s
START = np.array([4.0, 0.0, 0.1, -0.01])
PROCESS_NOISE = 6e-4  # standard deviation, in each coordinate of the state and each step
STATE_WEIGHT, INPUT_WEIGHT = 10.0 * np.eye(4), np.eye(1)

SPACE = Box([(-3.0, -2.0), (-6.0, -4.0), (-50.0, -25.0), (-4.0, -2.0)])
UNITS = np.array([1 / 8, 1 / 4, 3.0, 1 / 8])  # the paper's "scaling factors": the model sees theta / UNITS
PRIOR = Gamma(15, 10 / 3)  # of lengthscales in those units; the mode is 4.2
SIDES = np.array([high - low for low, high in SPACE.bounds]) / UNITS  # 8, 8, 8 1/3, 16

FLOOR = -3.0  # three prior standard deviations
IMPOSSIBLE = 100.0  # a cost, in the code of Brunzema et al.
DESIGN = 1024  # Sobol points that set the scale of the objective
STARTS = 8  # local searches for the optimum, besides the one from the LQR gain
TINY = 1e-30  # of the complex step; its square vanishes, so derivatives are exact to rounding


def discretise(friction: float) -> tuple[Array, Array]:
    """(A, B) of z_{k+1} = A z_k + B u_k with u held for a sample: the exponential of ((A_c, B_c), (0, 0)).

    >>> A, B = discretise(FRICTION)
    >>> A.shape, B.shape
    ((4, 4), (4, 1))
    """
    arm = MASS * LENGTH / (2.0 * INERTIA)
    flow = np.zeros((5, 5))
    flow[0, 1] = flow[2, 3] = 1.0
    flow[1] = [0.0, -1.0 / LAG, 0.0, 0.0, GAIN / LAG]
    flow[3] = -arm * flow[1]
    flow[3, 2:4] = arm * GRAVITY, -friction / INERTIA
    step = linalg.expm(SAMPLE * flow)
    return step[:4, :4], step[:4, 4:]


def expected_costs(gains: npt.NDArray[Any], A: Array, B: Array) -> npt.NDArray[Any]:
    """E[(1/N) sum_{k<N} z'Qz + u'Ru] over the process noise, for m gains (m x 4), without simulation.

    With F = A - B theta, S = Q + theta' R theta, P_n = sum_{k<n} (F^k)' S F^k and Z_n = sum_{k<n} P_k, the
    expectation is (z_0' P_N z_0 + s^2 tr Z_N) / N, s being the noise's standard deviation. Both sums double:

        P_2n = P_n + (F^n)' P_n F^n,    Z_2n = Z_n + n P_n + (F^n)' Z_n F^n

    so N = 1000 takes nine doublings and five single steps. Complex gains are taken as they are (no
    conjugates), for derivatives by a complex step.
    """
    F = A - B * gains[:, None, :]
    S = STATE_WEIGHT + gains[:, :, None] * INPUT_WEIGHT * gains[:, None, :]
    sums = np.zeros((2, *S.shape), dtype=S.dtype)
    sums[0] = S  # P_1, and Z_1 = P_0 = 0
    power, n = F, 1
    for bit in f"{STEPS:b}"[1:]:
        moved = power.mT @ sums @ power
        moved[1] += n * sums[0]
        sums += moved
        power, n = power @ power, 2 * n
        if bit == "1":
            sums[1] += sums[0]
            sums[0] = S + F.mT @ sums[0] @ F
            power, n = power @ F, n + 1
    noise = np.trace(sums[1], axis1=-2, axis2=-1)
    return np.asarray((START @ (sums[0] @ START).T + PROCESS_NOISE**2 * noise) / STEPS)


@dataclass(frozen=True)
class Plant:
    """The cart-pole at one friction: its discrete model, its LQR gain, its best gain in the box."""

    friction: float

    @cached_property
    def model(self) -> tuple[Array, Array]:
        """(A, B)."""
        return discretise(self.friction)

    def costs(self, gains: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The expected cost of each row."""
        return expected_costs(gains, *self.model)

    @cached_property
    def lqr(self) -> Array:
        """(R + B'PB)^-1 B'PA with P from the discrete Riccati equation."""
        A, B = self.model
        P = linalg.solve_discrete_are(A, B, STATE_WEIGHT, INPUT_WEIGHT)
        return np.asarray(np.linalg.solve(INPUT_WEIGHT + B.T @ P @ B, B.T @ P @ A)[0])

    def _cost_and_slope(self, unit: Array) -> tuple[float, Array]:
        low, high = np.transpose(SPACE.bounds)
        found = self.costs(low + (unit + 1j * TINY * np.eye(4)) * (high - low))
        return float(found[0].real), np.asarray(found.imag / TINY)

    @cached_property
    def best(self) -> Array:
        """The gain of least cost in the box: local searches from the LQR gain and from Sobol points."""
        first = SPACE.encode(np.clip(self.lqr, *np.transpose(SPACE.bounds)))
        tried = []
        for start in (first, *SPACE.candidates(STARTS)):
            found = optimize.minimize(
                self._cost_and_slope,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * 4,
                options={"ftol": 0.0, "gtol": 1e-11, "maxiter": 200},
            )
            tried.append(SPACE.decode(found.x))
        return np.asarray(tried[int(self.costs(np.array(tried)).argmin())])


@lru_cache(maxsize=32)
def plant(friction: float) -> Plant:
    """The plant at this friction; shared, because its optimum does not depend on a seed."""
    return Plant(friction)


@lru_cache(maxsize=1)
def cost_scale() -> Scaling:
    """Mean and standard deviation of the cost before the change, over Sobol points of the box."""
    low, high = np.transpose(SPACE.bounds)
    return Scaling.of(plant(FRICTION).costs(low + SPACE.candidates(DESIGN) * (high - low)))


def initial_scale(count: int, seed: int) -> Scaling:
    """Mean and standard deviation of the cost before the change, over random gains of the box."""
    low, high = np.transpose(SPACE.bounds)
    gains = low + np.random.default_rng((seed, 5)).random((count, 4)) * (high - low)
    costs = plant(FRICTION).costs(gains)
    usual = costs[costs <= IMPOSSIBLE]
    return Scaling.of(np.where(costs <= IMPOSSIBLE, costs, usual.mean() + 3.0 * usual.std()))


class PolicySearch:
    """The feedback gain of a cart-pole, whose friction grows by `factor` at step `change`.

    The objective is f_t(theta) = (offset - cost_t(theta)) / scale, and not less than `floor`. The cost is the
    mean of z'Qz + u'Ru over 1000 steps of 0.02 s from a fixed start, Q = 10 I and R = 1, in expectation over
    the process noise; so without `initial` there is nothing for `seed` to draw, and it is only recorded.
    Offset and scale are the cost's mean and standard deviation over the box before the change (about 14.9 and
    0.54), so that a unit signal variance and a noise variance of 0.02 make sense; its scaling is not
    in the paper's text.

    Every gain of the box is stable (up to factor 4, the largest allowed), but bad ones are far from that
    model: the worst corner is at -5.6 before and -14 after the change. The default `floor` of -3 cuts off
    0.5 % of the box before and 11 % after it; `floor=None` gives the cost as it is. This matters to triggers:
    without the floor, ET-GP-UCB that monitors from the first step can meet a corner after a reset, find it
    impossible under a unit variance, and reset again, at every step.

    With `initial`, offset and scale come from so many random gains of the seed instead, as in the code of
    Brunzema et al. (2022), where there are 30: then seeds differ by their units. Costs above 100 count as
    three standard deviations above the mean there, and so they do here, although the box has none.

    `optimum` is the best gain in the box for this finite horizon and start. The paper calls the gain of the
    infinite horizon optimal; `lqr_gain` has it. It lies in the box before and after the change, and is worth
    the same to 1e-8: 20 s are long enough.

    The paper divides the coordinates by its scaling factors (as the code of Brunzema et al. 2022 does) and
    learns the lengthscales online, under a Gamma(15, 10/3) prior and a unit signal variance. In those units
    the box has sides 8, 8, 8 1/3 and 16; `kernel` is that prior's mode on the unit cube, a first guess.
    `search` is what to learn: `Search` has one prior for all lengthscales, so it is that of a side of 8.

    >>> task = PolicySearch()
    >>> task.lqr_gain(1).round(2)
    array([ -2.2 ,  -4.66, -27.94,  -3.11])
    >>> task.optimum(1) - task.value(task.lqr_gain(1), 1) < 1e-8
    True
    >>> round(task.optimum(100) - task.value(task.lqr_gain(99), 100), 2)  # what ignoring the change costs
    0.25
    """

    name = "policy-search"
    space = SPACE
    source = (
        "cart-pole of Brunzema et al. (2022), with the parameters of their public code; "
        "the scaling of the cost and its floor are ours"
    )

    def __init__(
        self,
        *,
        seed: int = 0,
        horizon: int = 300,
        change: int = 100,
        factor: float = 2.5,
        noise_variance: float = 0.02,
        floor: float | None = FLOOR,
        initial: int | None = None,
    ) -> None:
        self.seed = integer("seed", seed, at_least=0)
        self.horizon = integer("horizon", horizon, at_least=1)
        self.change = integer("change", change, at_least=1)
        self.factor = real("factor", factor, above=0.0, at_most=4.0)
        self.noise_variance = real("noise_variance", noise_variance, above=0.0)
        self.floor = None if floor is None else real("floor", floor, at_most=FLOOR)
        self.kernel = RBF((PRIOR.shape - 1.0) / PRIOR.rate / SIDES)
        self.search = Search(
            learn=("lengthscale",), lengthscale_prior=Gamma(PRIOR.shape, PRIOR.rate * float(SIDES.min()))
        )
        self.initial = None if initial is None else integer("initial", initial, at_least=2)
        self.scaling = cost_scale() if self.initial is None else initial_scale(self.initial, self.seed)

    def plant(self, t: int) -> Plant:
        """The cart-pole at step t."""
        changed = index_of(t, self.horizon) + 1 >= self.change
        return plant(FRICTION * self.factor if changed else FRICTION)

    def cost(self, x: Any, t: int) -> float:
        """The expected cost of the gain x at step t, in the paper's units."""
        self.space.encode(x)  # for its checks
        return float(self.plant(t).costs(np.array(x, dtype=np.float64)[None])[0])

    def value(self, x: Any, t: int) -> float:
        """f_t(x): minus the expected cost, shifted and scaled, and not less than the floor."""
        cost = self.cost(x, t)
        if self.initial is not None and cost > IMPOSSIBLE:
            cost = self.scaling.offset + 3.0 * self.scaling.scale
        value = (self.scaling.offset - cost) / self.scaling.scale
        return value if self.floor is None else max(value, self.floor)

    def lqr_gain(self, t: int) -> Array:
        """The optimal gain for an infinite horizon at step t."""
        return self.plant(t).lqr.copy()

    def optimum(self, t: int) -> Optimum:
        """The largest value in the box."""
        best = self.plant(t).best
        return Optimum(self.value(best, t), best.copy())
