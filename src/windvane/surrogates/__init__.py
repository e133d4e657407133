"""Surrogates: the exact incremental GP, its hyperparameters, and how they are learned."""

from windvane.surrogates.blend import Blend
from windvane.surrogates.fit import Estimate, Search, map_estimate
from windvane.surrogates.gp import GP
from windvane.surrogates.hypotheses import HYPOTHESES, Hypothesis
from windvane.surrogates.learning import Given, Learning, LearnOnline, LearnThenMonitor
from windvane.surrogates.mixture import Mixture
from windvane.surrogates.model import Model, Surrogate
from windvane.surrogates.noise import Noise
from windvane.surrogates.posterior import Posterior
from windvane.surrogates.priors import Gamma, LogNormal, Prior
from windvane.surrogates.scaling import Scaling

__all__ = [
    "GP",
    "HYPOTHESES",
    "Blend",
    "Estimate",
    "Gamma",
    "Given",
    "Hypothesis",
    "LearnOnline",
    "LearnThenMonitor",
    "Learning",
    "LogNormal",
    "Mixture",
    "Model",
    "Noise",
    "Posterior",
    "Prior",
    "Scaling",
    "Search",
    "Surrogate",
    "map_estimate",
]
