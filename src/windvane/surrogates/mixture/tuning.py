"""The constants of the mixture, each with its meaning and what chose it.

Those that a caller may want to set are fields of `Mixture`; these are not.
"""

# -- who keeps a posterior on the candidates (speed only) -----------------------------------------------

ACTING = 0.02  # the weight from which a member keeps its candidates: docs/decisions/0015, "Cost"
IDLE = 0.005  # the weight below which it stops; between the two it goes on as it was
MOST_WORK = 6e8  # n^2 M of the posteriors begun in one step, about 30 ms, but for the last one
BELIEVED = 0.001  # the weight from which a member has a say in the probability of exceeding a level
CHUNK = 1024  # candidates at a time: the products stay in the processor's cache
REFRESH = 256  # observations between two fresh factorisations: rounding stays below 1e-9 (tests)

# -- data that a member no longer needs (speed only) ----------------------------------------------------

SLACK = 1.5  # it drops what is beyond its reach once that is a third of all it has
FEWEST_TO_DROP = 16  # and not before it has this many

# -- sudden changes -------------------------------------------------------------------------------------

FAR = 3.0  # prior standard deviations from which a value is beyond a new function: docs/decisions/0023
SURE = 0.5  # of the prior variance: where more is left, a value beyond is a discovery: docs/decisions/0023
SELDOM = 0.1  # how often a sudden change leads there, beside all others: docs/decisions/0023
BELIEVABLE = 0.5  # of all sudden changes together: from there on none of them lapses, docs/decisions/0055
LEVEL_FAR = 3.0  # standard deviations off from which a level may have moved, but at least
LEVEL_SIZE = 1.0  # so many prior standard deviations: docs/decisions/0029
LEVEL_SELDOM = 0.1  # how often only the level moves, beside all else, to beyond a new function: 0029
LEVEL_BESIDE = 0.15  # of sqrt(d), to a value that counts: nowhere else has a level fallen: 0052
LEVEL_WITHIN = 0.03  # and to where a new function may be as well: docs/decisions/0029

# -- regimes that come back: docs/decisions/0029 ---------------------------------------------------------

REGIMES = 4  # of those before, that may come back
KEPT = 60  # observations of each of them,
LASTS = 0.9  # of a covariance: where less was left when the regime ended, an observation is not kept
RETURNING = 0.3  # how probable it is, before anything is seen, that one is back after a change
ELSEWHERE = 0.3  # how probable another level is, of a regime that is back and of one that is new
FEWEST_SINCE = 4  # observations since a change that a regime is recognised by,
MOST_SINCE = 30  # and from which on it is too late: by then the new one is known

# -- learning -------------------------------------------------------------------------------------------

FEWEST_TO_FIT = 10  # observations that make a scale of y, and that a fit after a change needs: 0011, 0023
RECENT = 200  # observations that hyperparameters are fitted to: older ones changed no fit that was looked at
NOISE_ROUNDS, MOST_NOISE = 3, 0.5  # of a noise of one's own, and of the prior variance: docs/decisions/0056
LEARNED = 10.0  # what a fitted noise is worth, in pairs of observations: docs/decisions/0015
BEYOND_DOUBT = 1.0  # in the log of the posterior density: by what a rougher or smoother kernel must be better
TIMED = (2, 4, 8, 16)  # steps at which the length of a step is looked at: docs/decisions/0015

# -- outliers -------------------------------------------------------------------------------------------

SUSPECT = 0.02  # the probability from which it is remembered that an observation may be an outlier
SAME = 0.2  # of the logarithm of a noise: what changes less by a second judgement is not worth a factor
DEEP = 100.0  # times the variance of f: what a plunge has, docs/decisions/0049
GROSS = 30.0  # prior standard deviations below: from there a plunge has no bottom, docs/decisions/0052
DRAG = 0.1  # of what is grossly below: f is pulled down by 1 / DRAG prior standard deviations at most: 0052
CLIFF = 4.0  # prior standard deviations below the offset: where some values are so low, outliers are judged
REVIEWS = 3  # again after a fit, so many times at most: they hide each other, docs/decisions/0052
PASSES = 2  # variational passes an observation: a third moves the noise by less than 1 %

# -- before a fit: docs/decisions/0054 ------------------------------------------------------------------

IN_A_ROW = 5  # outliers without a usual value between them: with one in a hundred, that is none
AGREE = 0.5  # of their distance from what is expected of nothing known: if they differ by less
TIED = 0.5  # of all places, at least, whose values others have as well: then values are rounded,
SAME_VALUE = 1e-9  # and those that differ by no more than this, of the largest, are the same value
ALIKE = 0.3  # of the least noise, in standard deviations: where the best places differ by less than that,
PLACES, BEST = 4, 0.25  # so many of them, and such a part of all, a model cannot tell them apart;
ONE_PLACE = 0.05  # of sqrt(d): what is nearer is one place, and its newest value stands for it
DEPTH = 10.0  # times as far as those values reach: how far below the best one the floor is then
ONE_DEPTH = (
    0.5  # of how far below the best they are: where the values below a floor differ by less, they are a cliff
)

# -- the acquisition ------------------------------------------------------------------------------------

DISPUTED = 0.1  # the weight from which a member's disagreement with the others counts: docs/decisions/0015

# -- seasons (docs/decisions/0028) ------------------------------------------------------------------------

ITS_OWN, OF_A_DAY = 0.1, 0.1  # of the variance of a season: what a day has of its own, how fast that drifts
SWAYED = 0.003  # of the variance of a swing, per step: how fast it is another one
TOLD, ADOPTED = 0.2, 0.1  # the weight before anything is seen of a period that was told, and of one found
SEEN = 1.3  # periods of a season that must have been seen: less is a trend
SWUNG = 0.5  # and of a swing, which is at its opposite by then
SHORTEST = 6.0  # steps of the shortest period that is looked for
FEWEST_TO_SEEK = 20  # observations without which no period is looked for
MOST_TO_SEEK = 128  # observations that are looked at: a factor of them takes 0.2 ms
FINENESS = 0.25  # cycles over all data between two frequencies that are tried
MOST_FREQUENCIES = 256  # tried at a time
PROMISING = 3  # frequencies of which the evidence is computed
CLIMBS = 3  # parabolas to the best frequency nearby, for two of these
LOUDER = (1.0, 4.0)  # times the noise: that of a fit under a fast drift is too small for a season
HOPELESS = 12.0  # of log evidence: a climb wins 5 of it at most
CLEARLY = 3.0  # by how much more log evidence a season is taken up; it is dropped where it has less
AS_GOOD = 1.0  # of log evidence: no reason to prefer a period that is a little better
RIVALS = 3  # other hypotheses that a season has to beat, the most likely ones
