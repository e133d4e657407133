"""Windvane: Bayesian optimisation for objectives that change over time.

>>> import windvane as wv
>>> opt = wv.make("et-gp-ucb", wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.01, seed=0)
>>> event = opt.tell(opt.ask(), 0.3)
>>> event.reset
False
"""

from windvane.acquisition import UCB, ConstantBeta, IGPBeta, LogBeta, Theorem1Beta, Uniform
from windvane.algorithms import algorithms, make
from windvane.codec import component
from windvane.data import Best, Dataset, Event, Observation, Prediction, Verdict
from windvane.errors import (
    CorruptState,
    InvalidArgument,
    InvalidType,
    MissingExtra,
    NumericalFailure,
    UnknownName,
    WindvaneError,
)
from windvane.kernels import RBF, Empirical, Markov, Matern32, Matern52, Static, Wiener
from windvane.optimizer import Composition, Optimizer, restore
from windvane.retention import Backtracking, Budget, Empty, Full, LastPoint, SlidingWindow
from windvane.simulate import Trace, simulate
from windvane.spaces import Arms, Box, Choice, Integer, Real, Space
from windvane.surrogates import Gamma, Given, LearnOnline, LearnThenMonitor, LogNormal, Model, Scaling, Search
from windvane.surrogates.holdout import Fit, fit
from windvane.tasks import task, tasks
from windvane.triggers import (
    BoundedNoise,
    Likelihood,
    Never,
    NoImprovement,
    Periodic,
    PosteriorBound,
    ResetWindow,
)

__version__ = "0.1.0"

__all__ = [
    "RBF",
    "UCB",
    "Arms",
    "Backtracking",
    "Best",
    "BoundedNoise",
    "Box",
    "Budget",
    "Choice",
    "Composition",
    "ConstantBeta",
    "CorruptState",
    "Dataset",
    "Empirical",
    "Empty",
    "Event",
    "Fit",
    "Full",
    "Gamma",
    "Given",
    "IGPBeta",
    "Integer",
    "InvalidArgument",
    "InvalidType",
    "LastPoint",
    "LearnOnline",
    "LearnThenMonitor",
    "Likelihood",
    "LogBeta",
    "LogNormal",
    "Markov",
    "Matern32",
    "Matern52",
    "MissingExtra",
    "Model",
    "Never",
    "NoImprovement",
    "NumericalFailure",
    "Observation",
    "Optimizer",
    "Periodic",
    "PosteriorBound",
    "Prediction",
    "Real",
    "ResetWindow",
    "Scaling",
    "Search",
    "SlidingWindow",
    "Space",
    "Static",
    "Theorem1Beta",
    "Trace",
    "Uniform",
    "UnknownName",
    "Verdict",
    "Wiener",
    "WindvaneError",
    "algorithms",
    "component",
    "fit",
    "make",
    "restore",
    "simulate",
    "task",
    "tasks",
]
