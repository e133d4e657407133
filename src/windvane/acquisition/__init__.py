"""Acquisition: what to evaluate next, given a posterior.

An acquisition is a frozen dataclass with `propose`. Most maximise a utility u(mean, std) over the region;
`maximise` climbs any of them, and knows none by name.
"""

from windvane.acquisition.base import Acquisition, Moment, PosteriorView, Proposal
from windvane.acquisition.best import believed_best
from windvane.acquisition.log_ei import LogEI
from windvane.acquisition.maximise import maximise
from windvane.acquisition.schedules import (
    ConstantBeta,
    IGPBeta,
    LogBeta,
    Schedule,
    StagedBeta,
    Theorem1Beta,
)
from windvane.acquisition.spread import SpreadFirst
from windvane.acquisition.thompson import Thompson
from windvane.acquisition.ucb import UCB
from windvane.acquisition.uniform import Uniform
from windvane.acquisition.utility import Partials, UpperBound, Utility

__all__ = [
    "UCB",
    "Acquisition",
    "ConstantBeta",
    "IGPBeta",
    "LogBeta",
    "LogEI",
    "Moment",
    "Partials",
    "PosteriorView",
    "Proposal",
    "Schedule",
    "SpreadFirst",
    "StagedBeta",
    "Theorem1Beta",
    "Thompson",
    "Uniform",
    "UpperBound",
    "Utility",
    "believed_best",
    "maximise",
]
