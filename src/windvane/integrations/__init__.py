"""Windvane where people already are: each module needs the extra of its own name.

`windvane.integrations.optuna`: a sampler for Optuna. `windvane.integrations.botorch`: event triggers around a
BoTorch model, and the temporal kernels for GPyTorch. `windvane.integrations.gest`: a generator for Xopt,
optimas and libEnsemble.
"""
