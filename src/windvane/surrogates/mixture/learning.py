"""Kernel, noise, scale of y and seasons from the data: what a mixture learns beside its weights."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from windvane.checks import Array
from windvane.data import Dataset
from windvane.kernels import RBF, Kernel, Matern32, Static, Temporal
from windvane.kernels.state_space import state_space
from windvane.surrogates.evidence import Data
from windvane.surrogates.fit import Estimate, Search, fit_data, map_estimate
from windvane.surrogates.mixture.floor import floor_beneath
from windvane.surrogates.mixture.member import Member
from windvane.surrogates.mixture.mixture import Mixture
from windvane.surrogates.mixture.outliers import NoiseEstimate, doubted, scattered, scatters
from windvane.surrogates.mixture.periods import Found, Scan, sought
from windvane.surrogates.mixture.resolution import rounding_std
from windvane.surrogates.mixture.tuning import BEYOND_DOUBT, FEWEST_TO_FIT, LEARNED, RECENT, RIVALS
from windvane.surrogates.noise import Noise
from windvane.surrogates.scaling import Scaling, generalised


def _estimate(
    kernel: Kernel, temporal: Temporal, noise: Noise, values: Data, search: Search, seed: int
) -> Estimate:
    """The best hyperparameters; those of a rougher or smoother kernel, if these are better beyond doubt."""
    found = map_estimate(kernel, temporal, noise, values, search, seed)
    few = len(values[1]) < FEWEST_TO_FIT  # which say nothing about creases
    if few or "smoothness" not in search.learn or not isinstance(found.kernel, RBF | Matern32):
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
    # on a scale that is a mere guess, nothing is an outlier
    trusted = not rescale or len(data) >= FEWEST_TO_FIT
    own = _usual(data, member) if trusted else data.take(slice(member.first, None))
    if member.turn is not None:  # as if the level had stayed where it was
        since = int(np.searchsorted(own.steps, member.born))
        own = own.raised(slice(since, None), -model.scaling.scale * member.move)
    recent = own.take(slice(-RECENT, None))
    if member.first and len(recent) < FEWEST_TO_FIT:
        return None  # so soon after a change, the kernel of before is the better guess
    noise, scaling, temporal = Noise(noise_variance), model.scaling, member.temporal
    floor: float | None = None
    if rescale:
        # A signal larger than thought is for a scale that was told. Where it is found out, the hypothesis
        # would shrink the scale to a third, confirm itself, and explore a third as widely ever after.
        temporal = Static(1.0 / state_space(temporal).variance) * temporal
        parts = model.kernel, temporal, noise.variance, model.interval
        scaling = generalised(recent, *parts, old=model.scaling)
        if model.plunges and not scaling.held:
            # what is older is not forgotten: the members have it
            scale = max(scaling.scale, Scaling.of(own.y).scale)
            floor = floor_beneath(own, scale * math.sqrt(search.noise[0]), model.scaling.floor)
        if floor is not None:
            recent = replace(recent, y=np.maximum(recent.y, floor))
            scaling = generalised(recent, *parts, old=model.scaling)
    if trusted:
        recent = _without_lone(model, recent, member.noise)
    if model.plunges:
        search = _rounded(search, rounding_std(data.take(slice(member.first, None))) / scaling.scale)
    values = fit_data(recent, scaling, model.kernel, model.interval)
    found = _estimate(model.kernel, temporal, noise, values, search.under(temporal), seed)
    if rescale:
        spread = found.noise.variance
        scaling = generalised(recent, found.kernel, temporal, spread, model.interval, found.W, model.scaling)
        scaling = replace(scaling, floor=floor)
    after = replace(model, kernel=found.kernel, noise_variance=found.noise.variance, scaling=scaling)
    worth = min(model.doubt + 0.5 * _counted(recent), LEARNED)
    return after, NoiseEstimate.about(found.noise.variance, worth)


def _rounded(search: Search, std: float) -> Search:
    """The search among noises that are at least as large as what was rounded off."""
    (low, high), least = search.noise, std * std
    return search if least <= low else replace(search, noise=(least, max(high, 2.0 * least)))


def _counted(data: Dataset) -> float:
    """How many values say something about a noise that is not known."""
    if data.accuracy is None:
        return len(data)
    return float((~data.accuracy.known).sum() + data.accuracy.evidence(1.0)[0].sum())


def _without_lone(model: Mixture, data: Dataset, noise: NoiseEstimate) -> Dataset:
    """Without what repeats say about the noise, where one of them is more probably an outlier than not."""
    if data.accuracy is None:
        return data
    scatter = data.accuracy.scatter.copy()
    extra = model.outlier_size * model.kernel.diagonal(data.X)
    for row, repeats in scatters(data.accuracy, model.scaling.scale):
        if scattered((noise,), repeats, model.outliers, float(extra[row]))[1][0] > 0.5:
            scatter[row] = np.nan
    return replace(data, accuracy=data.accuracy._replace(scatter=scatter))


def _usual(data: Dataset, member: Member) -> Dataset:
    """A member's data without what it takes for outliers, unless that is most of them."""
    own = data.take(slice(member.first, None))
    rest = np.flatnonzero(~np.isin(own.steps, doubted(own.steps, member.suspects)))
    return own.take(rest) if 2 * len(rest) >= len(own) else own


def with_season(
    model: Mixture, data: Dataset, member: Member, weights: Array, noise: NoiseEstimate
) -> tuple[Mixture, NoiseEstimate]:
    """The model with the season that is in a member's data; without one, if there is none.

    `weights` are those of the model's other hypotheses: the heaviest are the rivals of a season that is new.
    One that was found before has had its time to make them light: it has to beat all.
    """
    own = _usual(data, member)
    if not len(own):
        return model, noise
    y, times = model.scaling.inward(own.y), own.times / model.interval
    noises = own.noises(noise.value, model.scaling.scale, model.kernel.diagonal(own.X))
    scan = Scan(model.kernel, own.X, y, times, noises, None if own.accuracy is None else own.accuracy.known)
    present = None if model.period is None else Found(model.period / model.interval, model.swings)
    heaviest = np.argsort(-weights, kind="stable")[: RIVALS if present is None else None]
    found = sought(scan, [model.hypotheses[number] for number in heaviest], present)
    if found is None:
        return (model if present is None else replace(model, period=None, swings=False)), noise
    if present is None:
        noise = noise._replace(b=found.louder * noise.b)
    elif found[:2] == present[:2]:
        return model, noise
    return replace(model, period=found.period * model.interval, swings=found.swings), noise
