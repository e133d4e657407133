"""The worlds of the standard suite.

Nothing here is tuned to an algorithm: a world is in the suite because things change like that somewhere,
because the literature uses it, or because nothing changes and one might think it did.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SuiteTask:
    """A task of the suite: its name in tables, the entry it is built from, and what changes in it."""

    label: str
    text: str
    about: str
    still: bool = False  # the function never changes, so every reset is a false one
    replaced: bool = False  # at its jumps nothing is left of the function


SHARED = (  # the worlds of both tables
    SuiteTask("static", "within-model:rate=0.0,horizon=300", "nothing changes", still=True),
    SuiteTask("drift 0.003", "within-model:rate=0.003,horizon=300", "slow drift, eps = 0.003"),
    SuiteTask("drift 0.01", "within-model:rate=0.01,horizon=300", "drift, eps = 0.01"),
    SuiteTask("drift 0.03", "within-model:rate=0.03,horizon=300", "drift, eps = 0.03"),
    SuiteTask("drift 0.1", "within-model:rate=0.1,horizon=300", "fast drift, eps = 0.1"),
    SuiteTask("drift 0.03 in 1-d", "within-model:rate=0.03,dim=1,horizon=300", "drift on a line"),
    SuiteTask("drift 0.01 in 4-d", "within-model:rate=0.01,dim=4,horizon=200", "drift in four dimensions"),
    SuiteTask("rate change", "rate-change:horizon=350", "eps = 0.01, from t = 175 on 0.05"),
    SuiteTask("seasons", "seasonal:period=150,horizon=300", "to the opposite and back, twice"),
    SuiteTask("jumps", "jumps:horizon=300", "still, but for two jumps to another function", replaced=True),
    SuiteTask("half jumps", "jumps:share=0.5,horizon=300", "still, but half is replaced twice"),
    SuiteTask(
        "static + outliers",
        "outliers:rate=0.0,horizon=300",
        "2 % of the observations are far off",
        still=True,
    ),
    SuiteTask("drift 0.01 + outliers", "outliers:rate=0.01,horizon=300", "the same, with drift"),
    SuiteTask("Ackley", "ackley-shift:horizon=100", "moved halfway"),
    SuiteTask("Hartmann", "hartmann-shift:horizon=100", "the same in six dimensions"),
    SuiteTask("policy search", "policy-search:horizon=200", "gains of a cart-pole whose friction grows"),
    SuiteTask("Deng abrupt", "deng-abrupt:horizon=300", "two jumps on a line"),
    SuiteTask("Deng slow", "deng-slow:horizon=300", "a slow turn on a line"),
    SuiteTask("lab stand-in", "temperature:synthetic=true", "46 sensors, sun and air conditioning"),
)
ONLY_TOLD = (  # differ from others in what is told, so they say nothing of those who are told nothing
    SuiteTask(
        "static + noise told / 4",
        "misjudged-noise:factor=0.25,rate=0.0,horizon=300",
        "the noise is four times what is told",
    ),
    SuiteTask(
        "static + noise told x 4",
        "misjudged-noise:factor=4.0,rate=0.0,horizon=300",
        "the noise is a quarter of what is told",
    ),
    SuiteTask(
        "drift 0.03 + noise told / 4",
        "misjudged-noise:factor=0.25,rate=0.03,horizon=300",
        "the noise is four times what is told, with drift",
    ),
    SuiteTask(
        "drift 0.03 + noise told x 4",
        "misjudged-noise:factor=4.0,rate=0.03,horizon=300",
        "the noise is a quarter of what is told, with drift",
    ),
)
NEW = (
    SuiteTask(
        "static, noise x 10",
        "within-model:rate=0.0,noise_variance=0.2,horizon=300",
        "nothing changes; ten times the noise",
        still=True,
    ),
    SuiteTask(
        "moving peaks",
        "moving-peaks:horizon=200",
        "five bells in [0, 100]^2; places, heights and widths move a little every 20 steps",
    ),
    SuiteTask(
        "Branin walks",
        "branin-walk:horizon=200",
        "Branin, translated by a slow smooth walk; the optimum keeps its value",
    ),
    SuiteTask(
        "valve", "valve:horizon=288", "one setting whose best place follows the day, period 96, three days"
    ),
    SuiteTask("two valves", "valve:dim=2,horizon=288", "the same with two coupled settings"),
    SuiteTask(
        "plant breaks",
        "breaking-plant:horizon=200",
        "efficiency over three settings; at a random step the best modes are lost and the level drops",
    ),
    SuiteTask(
        "Hartmann-3 mirrored",
        "hartmann3-mirrored:horizon=200",
        "its axes are mirrored at two random steps; the optimum keeps its value",
    ),
    SuiteTask(
        "heavy tails",
        "heavy-tails:horizon=200",
        "nothing changes; noise is Student's t with 3 degrees of freedom",
        still=True,
    ),
    SuiteTask("heavy tails + drift", "heavy-tails:rate=0.003,horizon=200", "the same, drifting slowly"),
    SuiteTask(
        "small units",
        "small-units:horizon=200",
        "nothing changes; values vary by 1e-6 around an offset of 1 to 10, drawn by the seed",
        still=True,
    ),
    SuiteTask("small units + drift", "small-units:rate=0.01,horizon=200", "the same, drifting"),
    SuiteTask(
        "rough", "rough:horizon=200", "nothing changes; Matern-3/2, lengthscale 0.15, d = 2", still=True
    ),
    SuiteTask(
        "rough + jumps", "rough:count=2,horizon=300", "the same, replaced at two random steps", replaced=True
    ),
    SuiteTask("rough + drift", "rough:rate=0.01,horizon=200", "the same, drifting"),
    SuiteTask(
        "Levy 4-d", "levy:dim=4,horizon=200", "nothing changes; mirrored and moved by the seed", still=True
    ),
    SuiteTask("Levy 6-d", "levy:dim=6,horizon=200", "the same in six dimensions", still=True),
    SuiteTask("kinks", "still:kind=kinks,dim=2,horizon=200,scale=1.0", "nothing changes; tents", still=True),
    SuiteTask(
        "cliff",
        "still:kind=cliff,dim=2,horizon=200,scale=1.0",
        "nothing changes; a step across a plane near the optimum",
        still=True,
    ),
    SuiteTask(
        "ridge",
        "still:kind=ridge,dim=3,horizon=200,scale=1.0",
        "nothing changes; a narrow curved valley",
        still=True,
    ),
    SuiteTask(
        "plateau",
        "still:kind=plateau,dim=2,horizon=200,scale=1.0",
        "nothing changes; flat but for one bump",
        still=True,
    ),
    SuiteTask(
        "steep",
        "still:kind=steep,dim=3,horizon=200,scale=1.0",
        "nothing changes; losses over four decades",
        still=True,
    ),
    SuiteTask(
        "rough still",
        "still:kind=rough,dim=2,horizon=200,scale=1.0",
        "nothing changes; a fractal",
        still=True,
    ),
    SuiteTask(
        "local change",
        "local-change:horizon=250",
        "61 arms; what is common drifts slowly, what is of one arm alone lasts 5 to 30 steps, tiny noise",
    ),
    SuiteTask(
        "humid", "humid:horizon=250", "44 arms whose levels drift slowly, and a common trend; small noise"
    ),
    SuiteTask(
        "regimes",
        "regimes:horizon=300",
        "three functions, switched at five random steps (A B A ...); old ones return exactly",
    ),
    SuiteTask(
        "regimes, a little changed",
        "regimes:change=0.05,horizon=300",
        "the same, but each visit has a share of 5 % that is new",
    ),
    SuiteTask(
        "workload",
        "workload:horizon=200",
        "at three random steps all values are multiplied and shifted; the best setting stays",
    ),
)
FROM_DATA = (  # with --data only
    SuiteTask("lab days 7-8", "temperature:days=7-8", "46 sensors of the Intel lab"),
    SuiteTask("lab days 5-6", "temperature:days=5-6", "the same, other days"),
    SuiteTask("shares", "stocks", "prices of 29 shares, 823 days"),
)
