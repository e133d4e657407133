"""Acquisition: what to evaluate next, given a posterior."""

from windvane.acquisition.base import Acquisition, Choice, Moment, Posterior
from windvane.acquisition.maximise import maximise
from windvane.acquisition.schedules import ConstantBeta, IGPBeta, LogBeta, Schedule, Theorem1Beta
from windvane.acquisition.ucb import UCB, Uniform

__all__ = [
    "UCB",
    "Acquisition",
    "Choice",
    "ConstantBeta",
    "IGPBeta",
    "LogBeta",
    "Moment",
    "Posterior",
    "Schedule",
    "Theorem1Beta",
    "Uniform",
    "maximise",
]
