"""Triggers: does this observation contradict the model? One class a file, all of one protocol."""

from windvane.triggers.base import Memory, Trigger, replay
from windvane.triggers.believed_change import BelievedChange
from windvane.triggers.bounded_noise import BoundedNoise
from windvane.triggers.confirmed import Confirmed, alarm
from windvane.triggers.e_detector import EDetector
from windvane.triggers.exact_bound import ExactBound
from windvane.triggers.likelihood import Likelihood
from windvane.triggers.never import Never
from windvane.triggers.no_improvement import NoImprovement
from windvane.triggers.periodic import Periodic
from windvane.triggers.posterior_bound import PosteriorBound
from windvane.triggers.window import Decision, ResetWindow

__all__ = [
    "BelievedChange",
    "BoundedNoise",
    "Confirmed",
    "Decision",
    "EDetector",
    "ExactBound",
    "Likelihood",
    "Memory",
    "Never",
    "NoImprovement",
    "Periodic",
    "PosteriorBound",
    "ResetWindow",
    "Trigger",
    "alarm",
    "replay",
]
