"""Windvane: Bayesian optimisation for objectives that change over time.

>>> import windvane as wv
>>> opt = wv.make("et-gp-ucb", wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.01, seed=0)
>>> event = opt.tell(opt.ask(), 0.3)
>>> event.reset
False
"""

from typing import TYPE_CHECKING, Any

from windvane.acquisition import (
    UCB,
    ConstantBeta,
    IGPBeta,
    LogBeta,
    LogEI,
    SpreadFirst,
    Theorem1Beta,
    Thompson,
    Uniform,
)
from windvane.algorithms import algorithms, make
from windvane.calibration import Calibration, SafetyCalibration, calibrate, calibrate_safety
from windvane.codec import component
from windvane.composition import Composition
from windvane.constraints import AtLeast, AtMost
from windvane.data import (
    Best,
    Change,
    Dataset,
    Event,
    Failure,
    Observation,
    Opinion,
    Outcome,
    Prediction,
    Verdict,
)
from windvane.errors import (
    Conflict,
    CorruptState,
    Forbidden,
    InvalidArgument,
    InvalidType,
    MissingExtra,
    NumericalFailure,
    StorageFailure,
    Unavailable,
    UnknownName,
    WindvaneError,
)
from windvane.extras import require
from windvane.hypothesis_names import describe_hypothesis
from windvane.kernels import (
    RBF,
    Empirical,
    Exchangeable,
    Independent,
    Markov,
    Matern32,
    Matern52,
    Static,
    TimeMatern32,
    TimeMatern52,
    TimePeriodic,
    TimeRBF,
    Wiener,
)
from windvane.optimizer import Optimizer, restore
from windvane.replay import Log, Replay, replay
from windvane.retention import (
    Backtracking,
    Belief,
    Budget,
    Empty,
    EvidenceWindow,
    Full,
    InBatches,
    LastPoint,
    Relevance,
    SinceChange,
    SlidingWindow,
)
from windvane.simulate import Trace, simulate
from windvane.spaces import Arms, Box, Candidates, Choice, Context, Integer, Real, Region, Space
from windvane.surrogates import (
    HYPOTHESES,
    Gamma,
    Given,
    Hypothesis,
    LearnOnline,
    LearnThenMonitor,
    LocalHypothesis,
    LogNormal,
    Mixture,
    Model,
    Scaling,
    Search,
)
from windvane.surrogates.holdout import Fit, fit
from windvane.tasks import task, tasks
from windvane.triggers import (
    BelievedChange,
    BoundedNoise,
    Confirmed,
    EDetector,
    ExactBound,
    Likelihood,
    Never,
    NoImprovement,
    Periodic,
    PosteriorBound,
    ResetWindow,
)

if TYPE_CHECKING:
    from windvane.study import Study as Study
    from windvane.study import studies as studies

__version__ = "1.0.0"

__all__ = [
    "HYPOTHESES",
    "RBF",
    "UCB",
    "Arms",
    "AtLeast",
    "AtMost",
    "Backtracking",
    "Belief",
    "BelievedChange",
    "Best",
    "BoundedNoise",
    "Box",
    "Budget",
    "Calibration",
    "Candidates",
    "Change",
    "Choice",
    "Composition",
    "Confirmed",
    "Conflict",
    "ConstantBeta",
    "Context",
    "CorruptState",
    "Dataset",
    "EDetector",
    "Empirical",
    "Empty",
    "Event",
    "EvidenceWindow",
    "ExactBound",
    "Exchangeable",
    "Failure",
    "Fit",
    "Forbidden",
    "Full",
    "Gamma",
    "Given",
    "Hypothesis",
    "IGPBeta",
    "InBatches",
    "Independent",
    "Integer",
    "InvalidArgument",
    "InvalidType",
    "LastPoint",
    "LearnOnline",
    "LearnThenMonitor",
    "Likelihood",
    "LocalHypothesis",
    "Log",
    "LogBeta",
    "LogEI",
    "LogNormal",
    "Markov",
    "Matern32",
    "Matern52",
    "MissingExtra",
    "Mixture",
    "Model",
    "Never",
    "NoImprovement",
    "NumericalFailure",
    "Observation",
    "Opinion",
    "Optimizer",
    "Outcome",
    "Periodic",
    "PosteriorBound",
    "Prediction",
    "Real",
    "Region",
    "Relevance",
    "Replay",
    "ResetWindow",
    "SafetyCalibration",
    "Scaling",
    "Search",
    "SinceChange",
    "SlidingWindow",
    "Space",
    "SpreadFirst",
    "Static",
    "StorageFailure",
    "Theorem1Beta",
    "Thompson",
    "TimeMatern32",
    "TimeMatern52",
    "TimePeriodic",
    "TimeRBF",
    "Trace",
    "Unavailable",
    "Uniform",
    "UnknownName",
    "Verdict",
    "Wiener",
    "WindvaneError",
    "algorithms",
    "calibrate",
    "calibrate_safety",
    "component",
    "describe_hypothesis",
    "fit",
    "make",
    "replay",
    "restore",
    "simulate",
    "task",
    "tasks",
]


def __getattr__(name: str) -> Any:
    """Studies need a database, which is an extra: imported when first used, and by no star import."""
    if name in ("Study", "studies"):
        return getattr(require("windvane.study", "studies"), name)
    raise AttributeError(f"module 'windvane' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), "Study", "studies"})
