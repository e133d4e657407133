"""Kernel, noise and scale of y from the data: what a mixture learns beside its weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from windvane.data import Dataset
from windvane.kernels import RBF, Kernel, Matern32, Static, Temporal
from windvane.surrogates.fit import Data, Estimate, Search, map_estimate
from windvane.surrogates.mixture.member import Member
from windvane.surrogates.mixture.mixture import Mixture
from windvane.surrogates.mixture.outliers import NoiseEstimate, doubted
from windvane.surrogates.mixture.tuning import BEYOND_DOUBT, FEWEST_TO_FIT, LEARNED, RECENT
from windvane.surrogates.noise import Noise
from windvane.surrogates.scaling import generalised


def _estimate(
    kernel: Kernel, temporal: Temporal, noise: Noise, values: Data, search: Search, seed: int
) -> Estimate:
    """The best hyperparameters; those of a rougher or smoother kernel, if these are better beyond doubt."""
    found = map_estimate(kernel, temporal, noise, values, search, seed)
    if "smoothness" not in search.learn or not isinstance(found.kernel, RBF | Matern32):
        return found
    other = Matern32 if isinstance(kernel, RBF) else RBF
    start = other(found.kernel.lengthscale, variance=found.kernel.variance)
    another = map_estimate(start, temporal, found.noise, values, replace(search, starts=1), seed)
    return another if another.log_posterior > found.log_posterior + BEYOND_DOUBT else found


def fitted(
    model: Mixture,
    data: Dataset,
    member: Member,
    noise_variance: float,
    search: Search,
    rescale: bool,
    seed: int,
) -> tuple[Mixture, NoiseEstimate] | None:
    """The model fitted to a member's data, under its hypothesis; None if these are too few.

    What the member takes for outliers is left out, unless that is most of the data: then it is the model that
    is wrong. With `rescale`, y is scaled as the kernel in force says before, and as the new one does after.
    """
    own = data.take(slice(member.first, None))
    if not rescale or len(data) >= FEWEST_TO_FIT:  # on a scale that is a mere guess, nothing is an outlier
        rest = np.flatnonzero(~np.isin(own.steps, doubted(own.steps, member.suspects)))
        own = own.take(rest) if 2 * len(rest) >= len(own) else own
    if member.turn is not None:  # as if the level had stayed where it was
        since = int(np.searchsorted(own.steps, member.born))
        own = own.raised(slice(since, None), -model.scaling.scale * member.move)
    recent = own.take(slice(-RECENT, None))
    if member.first and len(recent) < FEWEST_TO_FIT:
        return None  # so soon after a change, the kernel of before is the better guess
    noise, scaling, temporal = Noise(noise_variance), model.scaling, member.temporal
    if rescale:
        # A signal larger than thought is for a scale that was told. Where it is found out, the hypothesis
        # would shrink the scale to a third, confirm itself, and explore a third as widely ever after.
        temporal = Static(1.0 / member.variance) * temporal
        scaling = generalised(recent, model.kernel, temporal, noise.variance, model.interval)
    values = (recent.X, scaling.inward(recent.y), recent.times / model.interval)
    found = _estimate(model.kernel, temporal, noise, values, search.under(temporal), seed)
    if rescale:
        scaling = generalised(recent, found.kernel, temporal, found.noise.variance, model.interval, found.W)
    after = replace(model, kernel=found.kernel, noise_variance=found.noise.variance, scaling=scaling)
    worth = min(model.doubt + 0.5 * len(recent), LEARNED)
    return after, NoiseEstimate.about(found.noise.variance, worth)
