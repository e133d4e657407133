"""What `auto` starts from: its mixture, and how it learns."""

from __future__ import annotations

from dataclasses import replace

from windvane.acquisition import ConstantBeta, LogBeta, Schedule, StagedBeta
from windvane.errors import InvalidArgument
from windvane.kernels import SpaceTime
from windvane.options.common import LEAST_LEARNED, CommonOptions
from windvane.spaces import Arms
from windvane.spaces.base import Domain
from windvane.surrogates import (
    HYPOTHESES,
    Given,
    Hypothesis,
    Learning,
    LearnOnline,
    LearnThenMonitor,
    LogNormal,
    Mixture,
    Search,
)
from windvane.surrogates.mixture import LOCAL
from windvane.triggers import BelievedChange, Never, Periodic, Trigger

GUESSED_NOISE = 0.02  # of the signal's variance
KNOWN_NOISE, UNKNOWN_NOISE = 3.0, 1.0  # half the observations that a told, or a guessed, noise is worth
DRIFTING_NOISE = 0.02, 1.0  # the prior of the noise where f drifts: docs/decisions/0023
PLUNGES = 0.001  # the chance that what is far below is f, where little is known of it: docs/decisions/0049
OWN_NOISE = 1.25  # times the fitted noise: who wants more has its own, docs/decisions/0056
LAPSE = 30  # steps after which a sudden change that is not believed is given up: docs/decisions/0055
BETA = 2.7  # 1.64 standard deviations, the same at every step: docs/decisions/0055
ARMS_BETA = 1.2, 4.0  # c1 and c2 of c1 ln(c2 t) for arms of which nothing is told: docs/decisions/0030
FEW_ARMS, PAID = 100, 4  # up to here that holds from the first step; see `schedule` and docs/decisions/0053
GROWTH, STARTS = 1.15, 2  # it fits often and each time a little: docs/decisions/0023


def mixture(
    common: CommonOptions,
    hypotheses: tuple[Hypothesis, ...] | None,
    period: float | None,
    hazard: float,
    outliers: float,
) -> Mixture:
    """What `auto` believes; the noise, told or guessed, is where its learning begins.

    A season is looked for unless it is told what may be true about time.
    """
    if isinstance(common.kernel, SpaceTime):
        raise InvalidArgument("kernel: 'auto' finds out about time by itself; give the spatial kernel only")
    told = common.noise_variance is not None
    return Mixture(
        common.spatial,
        common.noise if told else GUESSED_NOISE * float(common.variances.mean()),
        common.inner_scaling,
        hypotheses=hypotheses or weighed(common.space, common.kernel is not None),
        hazard=hazard,
        outliers=outliers,
        doubt=KNOWN_NOISE if told else UNKNOWN_NOISE,
        settled=LEAST_LEARNED if common.rescale else 0,
        level_runs=0 if isinstance(common.space, Arms) else Mixture.level_runs,
        period=period,
        seeks=hypotheses is None and period is None,
        both=period is not None,
        plunges=PLUNGES,
        lapse=LAPSE,
        own_noise=OWN_NOISE,
    )


def weighed(space: Domain, told: bool) -> tuple[Hypothesis, ...]:
    """What is weighed unless the caller says otherwise.

    The kernel of arms knows what they have in common. A level of all of them, beside that, explains whatever
    one arm does for as long as no other is looked at, and expects them to do the same (docs/decisions/0030).
    A kernel that was told may not know what each arm does alone (0032); one that is learned has that.
    """
    if isinstance(space, Arms):
        return (*(each for each in HYPOTHESES if each.level is None), *(LOCAL if told else ()))
    return HYPOTHESES


def schedule(common: CommonOptions) -> Schedule:
    """How much to explore: as much now as ever, since what was learned does not last.

    Where nothing is known of what arms have in common, one says little about the others, so that each is
    worth more looks. With that much, each of many arms is worth a look before any is worth a second one. So
    they wait until as many steps have passed, since the last reset, as pay for a look at all of them.
    """
    if not isinstance(common.space, Arms) or common.kernel is not None:
        return ConstantBeta(BETA)
    usual, more = LogBeta(*ARMS_BETA), common.space.size - FEW_ARMS
    return StagedBeta(LogBeta(), usual, PAID * more) if more > 0 else usual


def learning(common: CommonOptions, trigger: Trigger | None, seeks: bool) -> Learning:
    """Online what is unknown; of a kernel that is told, the mixture learns the noise by itself, and a season
    is all that is left to look for.

    With a trigger that tests the observations, only before it watches: fits would explain away what it looks
    for (Section 6.3). A clock does not wait for a model.
    """
    tests = not (trigger is None or isinstance(trigger, BelievedChange | Never | Periodic))
    if common.kernel is not None:
        return LearnOnline(GROWTH, Search(learn=())) if seeks and not tests else Given()
    search = common.search()
    rough = () if isinstance(common.space, Arms) else ("smoothness",)
    search = replace(search, starts=STARTS, learn=(*search.learn, *rough))
    if "noise" in common.unknown:
        search = replace(search, drifting_noise_prior=LogNormal(*DRIFTING_NOISE))
    if tests:
        return LearnThenMonitor(LEAST_LEARNED, search)
    if isinstance(trigger, Never | Periodic):
        return LearnOnline(GROWTH, search)
    return LearnOnline(GROWTH, search, trusted=LEAST_LEARNED if common.rescale else 0)
