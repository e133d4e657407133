"""What an observation does to a mixture, before it is taken in: births, weights, and who lives on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from windvane.checks import Array
from windvane.data import IntArray
from windvane.surrogates.mixture import starts
from windvane.surrogates.mixture.member import Guess, Member
from windvane.surrogates.mixture.mixture import Mixture
from windvane.surrogates.mixture.outliers import NoiseEstimate, Taken, take
from windvane.surrogates.mixture.tuning import FEWEST_TO_FIT, SELDOM, SURE
from windvane.surrogates.mixture.weights import lift_to, reweigh


class Update(NamedTuple):
    """Who is left, what each of them expected, what it makes of the observation, and what it weighs then."""

    members: list[Member]
    guesses: list[Guess]
    taken: Taken
    extra: float  # the variance that an outlier has besides, in the model's units
    weights: Array

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
        )


class Weighed(NamedTuple):
    """An update, the log density of the observation in the model's units, and whether it is an outlier."""

    update: Update
    log_density: float
    outlier: float


def weigh(
    model: Mixture,
    members: list[Member],
    weights: Array,
    guesses: list[Guess],
    y: float,
    prior: float,
    newborn: Member | None,
) -> Weighed:
    """Bayes' rule for an observation y where f has the prior variance given.

    `newborn`, if any, is the hypothesis that everything changed just now.
    """
    means = np.array([guess.mean for guess in guesses])
    # of an outlier so gross that it has no size, every hypothesis is to think the same
    extra = max(model.outlier_size * prior, (y - float(weights @ means)) ** 2)
    if newborn is not None:
        hazard = model.hazard * (SELDOM if newborn.lift else 1.0)
        members = [*members, newborn]
        guesses = [*guesses, Guess(np.empty(0), 0.0, prior + newborn.lift)]
        weights = np.concatenate((weights * (1.0 - hazard), (hazard,)))
        means = np.concatenate((means, (0.0,)))
    variances = np.array([guess.variance for guess in guesses])
    taken = take([member.noise for member in members], y - means, variances, model.outliers, extra)
    after, log_density = reweigh(weights, taken.log_density, model.prior, model.share)
    update = Update(list(members), list(guesses), taken, extra, after)
    permanent = len(model.permanent)
    if len(members) > permanent + model.runs:  # one sudden change too many: the least likely goes
        least = permanent + int(np.argmin(after[permanent:]))
        update = update.of(np.delete(np.arange(len(members)), least))
    return Weighed(update, log_density, min(float(after @ taken.share), 1.0))


def born(
    model: Mixture,
    members: list[Member],
    weights: Array,
    guesses: list[Guess],
    y: float,
    prior: float,
    step: int,
    count: int,
) -> Member | None:
    """The hypothesis that everything changed at this step, after `count` observations.

    With a level of its own where y is beyond a new function of the old kind, if something was known
    there: what a new place has to offer may be beyond all seen before.
    """
    if not count or not model.hazard:
        return None
    within = sum(w * guess.variance for w, guess in zip(weights.tolist(), guesses, strict=True))
    lift = lift_to(y, prior) if count >= FEWEST_TO_FIT and within < SURE * prior else 0.0
    a, b = (weights @ np.array([member.noise for member in members])).tolist()
    return starts.run(model, NoiseEstimate(a, b), count, step, lift)
