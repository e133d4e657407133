"""Kernels: stationary and empirical in space; Markov, Wiener, smooth, periodic in time; + and * compose."""

from windvane.kernels.base import Jet, Kernel, Product, Sum
from windvane.kernels.empirical import Empirical
from windvane.kernels.exchangeable import Exchangeable
from windvane.kernels.independent import Independent
from windvane.kernels.periodic import TimePeriodic
from windvane.kernels.state_space import StateSpace
from windvane.kernels.stationary import RBF, Matern32, Matern52, Stationary
from windvane.kernels.temporal import (
    Markov,
    SpaceTime,
    Static,
    Temporal,
    TemporalProduct,
    TemporalSum,
    Wiener,
)
from windvane.kernels.trends import TimeMatern32, TimeMatern52, TimeRBF, Trend

__all__ = [
    "RBF",
    "Empirical",
    "Exchangeable",
    "Independent",
    "Jet",
    "Kernel",
    "Markov",
    "Matern32",
    "Matern52",
    "Product",
    "SpaceTime",
    "StateSpace",
    "Static",
    "Stationary",
    "Sum",
    "Temporal",
    "TemporalProduct",
    "TemporalSum",
    "TimeMatern32",
    "TimeMatern52",
    "TimePeriodic",
    "TimeRBF",
    "Trend",
    "Wiener",
]
