"""Surrogates: the exact incremental GP, its hyperparameters, and how they are learned."""

from windvane.surrogates.base import Forecast, Surrogate
from windvane.surrogates.fit import Estimate, Search, map_estimate
from windvane.surrogates.gp import GP
from windvane.surrogates.gp_surrogate import GPSurrogate
from windvane.surrogates.influence import reaches
from windvane.surrogates.learning import Given, Learning, LearnOnline, LearnThenMonitor
from windvane.surrogates.mixture import HYPOTHESES, Hypothesis, LocalHypothesis, Mixture, MixtureSurrogate
from windvane.surrogates.model import Model
from windvane.surrogates.noise import Noise
from windvane.surrogates.posterior import Posterior
from windvane.surrogates.priors import Gamma, LogNormal, Prior
from windvane.surrogates.scaling import Scaling

__all__ = [
    "GP",
    "HYPOTHESES",
    "Estimate",
    "Forecast",
    "GPSurrogate",
    "Gamma",
    "Given",
    "Hypothesis",
    "LearnOnline",
    "LearnThenMonitor",
    "Learning",
    "LocalHypothesis",
    "LogNormal",
    "Mixture",
    "MixtureSurrogate",
    "Model",
    "Noise",
    "Posterior",
    "Prior",
    "Scaling",
    "Search",
    "Surrogate",
    "map_estimate",
    "reaches",
]
