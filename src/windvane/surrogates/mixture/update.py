"""What an observation does to a mixture, before it is taken in: births, weights, and who lives on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from windvane.checks import Array
from windvane.data import IntArray
from windvane.surrogates.mixture import starts
from windvane.surrogates.mixture.member import Guess, Member
from windvane.surrogates.mixture.mixture import Mixture
from windvane.surrogates.mixture.outliers import SINGLE, NoiseEstimate, Precise, Taken, besides, take
from windvane.surrogates.mixture.tuning import (
    BELIEVABLE,
    FEWEST_TO_FIT,
    LEVEL_FAR,
    LEVEL_SIZE,
    SURE,
)
from windvane.surrogates.mixture.weights import lift_to, reweigh, size


class Update(NamedTuple):
    """Who is left, what each of them expected, what it makes of the observation, and what it weighs then."""

    members: list[Member]
    guesses: list[Guess]
    taken: Taken
    extra: float  # the variance that an outlier is given besides, in the model's units
    weights: Array
    scatter: float = 0.0  # the log density of what repeats scatter about their mean

    def of(self, rows: IntArray) -> Update:
        """That of some members; their weights sum to 1 again."""
        weights, taken = self.weights[rows], self.taken
        after = [taken.after[row] for row in rows]
        return Update(
            [self.members[row] for row in rows],
            [self.guesses[row] for row in rows],
            Taken(taken.noise[rows], after, taken.log_density[rows], taken.share[rows]),
            self.extra,
            weights / weights.sum(),
            self.scatter,
        )


class Weighed(NamedTuple):
    """An update, the log density of y in the model's units, and whether it is an outlier.

    Of repeats, that is the density of their mean, given what they scatter.
    """

    update: Update
    log_density: float
    outlier: float


class Birth(NamedTuple):
    """A hypothesis that begins with an observation, what it expected of that, and its chance."""

    member: Member
    guess: Guess
    hazard: float


def weigh(
    model: Mixture,
    members: list[Member],
    weights: Array,
    guesses: list[Guess],
    y: float,
    prior: float,
    births: list[Birth],
    step: int,
    known: Precise = SINGLE,
) -> Weighed:
    """Bayes' rule for an observation y, that of a step, where f has the prior variance given.

    `births` are the hypotheses that something changed just now, `known` what is known of its noise.
    """
    means = np.array([guess.mean for guess in guesses])
    # of an outlier so gross that it has no size, every hypothesis is to think the same
    off = y - float(weights @ means)
    extra = max(model.outlier_size * prior, off**2)
    given = float(besides(np.array(off), prior, model.outlier_size, model.plunges))
    if births:
        hazards = [birth.hazard for birth in births]
        members = [*members, *(birth.member for birth in births)]
        guesses = [*guesses, *(birth.guess for birth in births)]
        weights = np.concatenate((weights * (1.0 - sum(hazards)), hazards))
        means = np.concatenate((means, [birth.guess.mean for birth in births]))
    variances = np.array([guess.variance for guess in guesses])
    estimates = [member.noise for member in members]
    taken = take(estimates, y - means, variances, model.outliers, extra, known, model.plunges, prior, given)
    after, log_density = reweigh(weights, taken.log_density, model.prior, model.share)
    scatter = 0.0
    if taken.scatter is not None:
        scatter = reweigh(weights, taken.scatter, model.prior, model.share).log_density
    update = Update(list(members), list(guesses), taken, given, after, scatter)
    gone = _given_up(model, members, after, step)
    if gone:
        update = update.of(np.delete(np.arange(len(members)), gone))
    return Weighed(update, log_density - scatter, min(float(after @ taken.share), 1.0))


def _given_up(model: Mixture, members: list[Member], weights: Array, step: int) -> list[int]:
    """The sudden changes that are held possible no longer, by their numbers.

    Of either kind, the least likely ones beyond the number that is held possible; and while it is not
    believed that anything changed, those of more than `lapse` steps ago. A change shows when its place is
    looked at; what gathers weight over many steps is a kernel that does not fit everywhere alike
    (docs/decisions/0055).
    """
    gone = set[int]()
    runs = range(len(model.permanent), len(members))
    for moved, most in ((False, model.runs), (True, model.level_runs)):
        own = [number for number in runs if (members[number].turn is not None) == moved]
        own.sort(key=lambda number: float(weights[number]))
        gone.update(own[: max(len(own) - most, 0)])
    if model.lapse and float(weights[len(model.permanent) :].sum()) < BELIEVABLE:
        gone.update(number for number in runs if members[number].born < step - model.lapse)
    return sorted(gone)


def born(
    model: Mixture,
    members: list[Member],
    weights: Array,
    guesses: list[Guess],
    y: float,
    prior: float,
    step: int,
    count: int,
    known: Precise = SINGLE,
) -> list[Birth]:
    """The hypotheses that everything, or the level, changed at this step, after `count` observations.

    If everything, with a level of its own where y is beyond a new function of the old kind, if something was
    known there: what a new place has to offer may be beyond all seen before.
    """
    if not count or not model.hazard or step <= model.settled:
        return []
    # what noise that is known explains is no new level
    reach = prior if known.noise is None else prior + known.noise
    within = sum(w * guess.variance for w, guess in zip(weights.tolist(), guesses, strict=True))
    lift = lift_to(y, reach) if count >= FEWEST_TO_FIT and within < SURE * prior else 0.0
    a, b = (weights @ np.array([member.noise for member in members])).tolist()
    run = starts.run(model, NoiseEstimate(a, b), count, step, lift)
    births = [Birth(run, Guess(np.empty(0), 0.0, prior + lift), starts.hazard_of(model, run, y, reach))]
    heaviest = int(np.argmax(weights[: len(model.permanent)]))
    parent, guess = members[heaviest], guesses[heaviest]
    off = y - guess.mean
    noise = parent.noise.value / known.repeats if known.noise is None else known.noise
    least = max(LEVEL_FAR**2 * (guess.variance + noise), LEVEL_SIZE**2 * prior)
    sure = count >= FEWEST_TO_FIT and guess.variance < SURE * prior
    if model.level_runs and sure and off * off > least:
        lift = size(off, prior)
        moved = parent.moved(lift, count, step)
        expected = guess._replace(variance=guess.variance + lift)
        births.append(Birth(moved, expected, starts.hazard_of(model, moved, y, reach)))
    return births
