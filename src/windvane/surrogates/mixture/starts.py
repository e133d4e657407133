"""Fresh starts: members made anew, given all their data at once, and weighed by them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from windvane.checks import Array
from windvane.data import Dataset
from windvane.kernels import Static
from windvane.surrogates.mixture.hypotheses import CHANGED, same
from windvane.surrogates.mixture.member import Member
from windvane.surrogates.mixture.mixture import Mixture
from windvane.surrogates.mixture.outliers import (
    NoiseEstimate,
    Suspects,
    besides,
    log_evidence,
    noises,
    scattered,
    scatters,
    suspicion,
)
from windvane.surrogates.mixture.tuning import (
    CLIFF,
    FEWEST_TO_FIT,
    LEVEL_SELDOM,
    LEVEL_WITHIN,
    MOST_NOISE,
    NOISE_ROUNDS,
    SAME,
    SELDOM,
)
from windvane.surrogates.mixture.weights import Reweighed, lift_to, reweigh


def permanent(model: Mixture, noise: NoiseEstimate, suspects: Suspects | None = None) -> list[Member]:
    """The permanent hypotheses, with one idea of the noise and of the outliers."""
    return [Member(hypothesis, noise, lead=model.lead, suspects=suspects) for hypothesis in model.permanent]


def run(
    model: Mixture,
    noise: NoiseEstimate,
    first: int,
    born: int,
    lift: float = 0.0,
    suspects: Suspects | None = None,
) -> Member:
    """A sudden change at step `born`, from observation number `first` on.

    `lift` is the variance of the level that the objective jumped to, beside its new shape.
    """
    hypothesis = replace(CHANGED, level=Static(lift)) if lift else CHANGED
    return Member(hypothesis, noise, first=first, born=born, lead=model.lead, suspects=suspects)


def moved(
    model: Mixture,
    noise: NoiseEstimate,
    parent: int,
    first: int,
    turn: int,
    born: int,
    lift: float,
    suspects: Suspects | None = None,
) -> Member:
    """The permanent hypothesis number `parent`, whose level moved at step `born`, with observation `turn`."""
    member = Member(model.permanent[parent], noise, first=first, lead=model.lead, suspects=suspects)
    return member.moved(lift, turn, born)


def tilt(model: Mixture, data: Dataset) -> Array | None:
    """What observations from before a move of the level have in common, n x n: its size is uncertain."""
    found: Array | None = None
    for step, spread in model.moves:
        old = int(np.searchsorted(data.steps, step))
        if old and spread:
            found = np.zeros((len(data), len(data))) if found is None else found
            found[:old, :old] += (spread / model.scaling.scale) ** 2
    return found


def own(model: Mixture, A: Array, B: Array) -> Array | None:
    """The covariance of what each place does alone, but for time, if any hypothesis asks for it."""
    return same(model.kernel, A, B) if model.local else None


def factor(model: Mixture, data: Dataset, members: Sequence[Member]) -> None:
    """Give each member its part of the data, with the noises it has for them."""
    if not members:
        return
    K = model.kernel.matrix(data.X, data.X)
    y, times = model.scaling.inward(data.y), data.times / model.interval
    now = float(times[-1]) if len(data) else -math.inf
    common, alone = tilt(model, data), own(model, data.X, data.X)
    for member in members:
        member.rebuild(K, y, times, now, common, alone)


def quieten(model: Mixture, data: Dataset, members: Sequence[Member]) -> None:
    """Give the observations of each member the noise that follows from what it remembers of outliers."""
    for member in members:
        steps, usual = data.steps[member.first :], usual_noises(model, data, member)
        member.noises = noises(usual, steps, member.suspects, model.scaling.scale)


def usual_noises(model: Mixture, data: Dataset, member: Member) -> Array:
    """The noise of a member's observations if none of them is an outlier."""
    prior = 0.0 if data.accuracy is None else model.kernel.diagonal(data.X)
    return data.noises(member.noise.value, model.scaling.scale, prior)[member.first :]


def own_noise(model: Mixture, data: Dataset, members: Sequence[Member]) -> None:
    """Give members that want clearly more noise than was fitted a noise of their own, and factor them again.

    The noise was fitted under one hypothesis. Under a fast drift it is small, since that explains what
    scatters as well; with so little, no other hypothesis explains anything (docs/decisions/0056).

    With s the usual noise and P = K~^-1, the evidence is stationary in s where sum alpha_i^2 = sum P_ii. A
    round goes from s to (s^2 sum alpha_i^2 + 2 d s_0) / (s sum P_ii + 2 d), and is there at once if there
    is nothing but noise; the fitted s_0 counts as 2 d observations, `doubt` is d.
    """
    most = MOST_NOISE * float(model.kernel.diagonal(data.X).mean()) if len(data) else 0.0
    for _ in range(NOISE_ROUNDS if model.own_noise else 0):
        changed = []
        for member in members:
            if len(member) < FEWEST_TO_FIT:
                continue
            s, usual = member.noise.value, usual_noises(model, data, member)
            share = np.where(member.noises <= 2.0 * usual, usual / s, 0.0)  # outliers say nothing
            if data.accuracy is not None:
                share[data.accuracy.known[member.first :]] = 0.0
            squares, count = float(share @ member.alpha**2), float(share @ member.factor.inverse_diagonal)
            total = s * s * squares + 2.0 * model.doubt * model.noise_variance
            wanted = min(total / (s * count + 2.0 * model.doubt), most)
            if wanted > model.own_noise * s:
                member.noise = NoiseEstimate.about(wanted, member.noise.a)
                changed.append(member)
        if not changed:
            break
        quieten(model, data, changed)
        factor(model, data, changed)


class Reviewed(NamedTuple):
    """Whose noises have changed: their data are to be factored again; and whether to look once more."""

    changed: list[Member]
    again: bool


def review(model: Mixture, data: Dataset, members: Sequence[Member]) -> Reviewed:
    """Judge again, by what all other data say, what was measured before the scale of y was known, and what
    was held to be an outlier: on another scale it may be none.

    Beside a cliff, outliers make others look like some until they are quiet: all are judged once more.
    """
    early = data.steps <= FEWEST_TO_FIT
    prior = model.kernel.diagonal(data.X)
    changed, again = [], False
    deep = bool((model.scaling.inward(data.y) < -CLIFF * np.sqrt(prior)).any())
    for member in members:
        rows = np.flatnonzero(early | np.isin(data.steps, list(member.suspects)))
        rows = rows[rows >= member.first]
        if not len(rows) or len(member) < FEWEST_TO_FIT:
            continue
        residual, variance = member.left_out(rows - member.first)
        extra = np.maximum(model.outlier_size * prior[rows], residual * residual)
        usual = usual_noises(model, data, member)[rows - member.first]
        before = prior[rows]
        _, shares = log_evidence(residual, variance, usual, model.outliers, extra, model.plunges, before)
        given = besides(residual, before, model.outlier_size, model.plunges)
        for row, share, size in zip(rows, shares.tolist(), given.tolist(), strict=True):
            member.doubt(int(data.steps[row]), suspicion(share, size, model.scaling.scale))
        noises_before = member.noises
        quieten(model, data, (member,))
        if np.abs(np.log(member.noises / noises_before)).max() > SAME:
            changed.append(member)
            again |= deep and bool((member.noises > model.outlier_size * prior[member.first :]).any())
        else:
            member.noises = noises_before
    return Reviewed(changed, again and model.plunges > 0.0)


def weigh(model: Mixture, data: Dataset, members: Sequence[Member]) -> Reweighed:
    """The weights that the one-step predictions of all data give every hypothesis, and their log evidence.

    The permanent ones come first; a sudden change enters with the weight of the hazard at its birth.
    """
    permanent = len(model.permanent)
    logs = np.full((len(data), len(members)), -np.inf)
    before = model.kernel.diagonal(data.X)
    prior, reach = model.outlier_size * before, before
    if data.accuracy is not None:  # what noise that is known explains is no new level
        reach = reach + data.noises(0.0, model.scaling.scale, reach)
    births: dict[int, list[int]] = {}
    for number, member in enumerate(members):
        residual, variance = member.innovations()
        extra = np.maximum(prior[member.first :], residual * residual)
        usual = usual_noises(model, data, member)
        logs[member.first :, number], _ = log_evidence(
            residual, variance, usual, model.outliers, extra, model.plunges, before[member.first :]
        )
        if data.accuracy is not None:
            logs[member.first :, number] += scatter(model, data, member, prior)[member.first :]
        if number >= permanent:
            birth = int(np.searchsorted(data.steps, member.born))
            logs[:birth, number] = -np.inf
            births.setdefault(birth, []).append(number)
    for number, member in enumerate(members[:permanent]):  # who has left old data out agrees about them
        logs[: member.first, number] = logs[: member.first, :permanent].max(axis=1)
    weights = np.concatenate((model.prior, np.zeros(len(members) - permanent)))
    returned = model.share * weights
    top = logs.max(axis=1)
    relative = np.exp(logs - top[:, None])
    evidence = float(top.sum())
    for row, densities in enumerate(relative):
        born = births.get(row)
        if born is not None:
            y, known = model.scaling.inward(float(data.y[row])), float(reach[row])
            hazards = [hazard_of(model, members[number], y, known) for number in born]
            spent = sum(hazards)
            if spent > 1.0:  # several that began before all that is left
                hazards, spent = [hazard / spent for hazard in hazards], 1.0
            weights = weights * (1.0 - spent)
            weights[born] = hazards
        joint = weights * densities
        total = float(joint.sum())
        if total > 1e-200:  # what `reweigh` does, without logarithms
            evidence += math.log(total)
            weights = joint * ((1.0 - model.share) / total) + returned
        else:
            again = reweigh(weights, logs[row], model.prior, model.share)
            evidence += again.log_density - float(top[row])
            weights = again.weights
    return Reweighed(weights, evidence)


def scatter(model: Mixture, data: Dataset, member: Member, extra: Array) -> Array:
    """The log density of what repeats scatter about their means, for each observation; else 0.

    `extra` is the variance that an outlier has besides, at least.
    """
    found = np.zeros(len(data))
    for row, repeats in scatters(data.accuracy, model.scaling.scale):
        found[row] = scattered((member.noise,), repeats, model.outliers, float(extra[row]))[0][0]
    return found


def hazard_of(model: Mixture, newborn: Member, y: float, prior: float) -> float:
    """The chance per step of a sudden change of that kind, to y, where f has the prior variance given."""
    if newborn.turn is not None:
        return model.hazard * (LEVEL_SELDOM if lift_to(y, prior) else LEVEL_WITHIN)
    return model.hazard * (SELDOM if newborn.lift else 1.0)
