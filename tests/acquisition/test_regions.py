"""The maximiser on parts of a space: never outside, and as good as many random points inside."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.acquisition import Moment, UpperBound, believed_best, maximise
from windvane.acquisition.log_ei import LogImprovement

BOX = wv.Box([(0, 1)] * 3)
MIXED = wv.Space(a=wv.Real(0, 1), k=wv.Integer(1, 6), m=wv.Choice(["x", "y", "z"]), b=wv.Real(0, 1))
FINE = wv.Space(a=wv.Real(0, 1), k=wv.Integer(1, 10**6), j=wv.Integer(1, 40))
FEW = wv.Space(k=wv.Integer(1, 9), m=wv.Choice(["x", "y"]))
MOMENT = Moment(10, 10, 3, lambda: 1.0)
QUICK = settings(max_examples=40, deadline=None)


def generator():
    return np.random.default_rng(0)


def posterior_on(space, seed, n=18, name="gp-ucb", scale=0.3):
    rng = np.random.default_rng(seed)
    opt = wv.make(name, space, kernel=wv.RBF(scale), noise_variance=0.02, seed=seed)
    for unit in space.sample(rng, n):
        opt.tell(space.decode(unit), float(rng.normal()))
    return opt._progress.surrogate.posterior(opt.time)


def heights(posterior, utility, points):
    mean, variance = posterior.at(points)
    return utility.value(mean, np.sqrt(np.maximum(variance, 1e-18)))


@st.composite
def cases(draw):
    space = draw(st.sampled_from([BOX, MIXED, FINE, FEW]))
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    region, centre = wv.Region.all_of(space), space.sample(rng, 1)[0]
    if draw(st.booleans()):
        region = region.fixed({0: centre[0]})
    if draw(st.booleans()):
        region = region.around(centre, draw(st.floats(0.0, 0.5)))
    if draw(st.booleans()):
        region = region.without(space.sample(rng, draw(st.integers(1, 6))), draw(st.floats(0.0, 0.3)))
    if draw(st.booleans()):
        region = region.only(np.concatenate((space.sample(rng, 8), centre[None])))
    try:
        region.sample(rng, 1)
    except wv.InvalidArgument:
        assume(False)
    return region, seed


@QUICK
@given(cases(), st.sampled_from([0.0, 1.0, 2.5]), st.integers(0, 4))
def test_every_acquisition_stays_in_the_region(case, multiplier, n):
    region, seed = case
    posterior = posterior_on(region.space, seed, n=6 * n)
    found = [maximise(posterior, region, UpperBound(multiplier), generator).point]
    for acquisition in (wv.UCB(), wv.LogEI(), wv.Thompson(), wv.Uniform()):
        found.append(acquisition.propose(posterior, region, MOMENT, generator).point)
    if n:
        found.extend(believed_best(posterior, region, generator))
    points = np.array(found)
    assert region.contains(points).all()
    assert np.array_equal(region.space.snap(points), points)


def narrowed(space, seed):
    """Five uses of a region, in turn."""
    rng = np.random.default_rng(seed)
    region, centre = wv.Region.all_of(space), space.sample(rng, 1)[0]
    return (
        region.fixed({0: centre[0]}),
        region.around(centre, 0.2),
        region.without(space.sample(rng, 4), 0.25),
        region.fixed({0: centre[0]}).without(space.sample(rng, 3), 0.3),
        region.around(centre, 0.3).without(centre[None], 0.15),
    )[seed % 5]


@pytest.mark.parametrize("utility", [UpperBound(0.0), UpperBound(1.2), LogImprovement(1.5)])
@pytest.mark.parametrize("space", [wv.Box([(0, 1)] * 2), BOX, wv.Box([(0, 1)] * 5), MIXED, FINE])
def test_as_good_as_the_best_of_many_random_points(space, utility):
    """At least 95 % within the tolerance of the maximiser's own tests."""
    short = []
    for seed in range(20):
        region = narrowed(space, seed)
        posterior = posterior_on(space, seed)
        pool = region.sample(np.random.default_rng(seed), 20_000)
        best = maximise(posterior, region, utility, generator)
        reached = heights(posterior, utility, best.point[None])[0]
        assert best.value == pytest.approx(reached, abs=1e-3)
        short.append(heights(posterior, utility, pool).max() - reached)
    assert np.mean(np.array(short) > 1e-4) <= 0.05, np.round(short, 5)


def test_a_list_is_searched_exactly():
    points = np.random.default_rng(0).uniform(size=(3000, 3))
    region = wv.Region.all_of(BOX).only(points).without(points[:500], 0.0)
    for seed in range(4):
        posterior = posterior_on(BOX, seed)
        best = maximise(posterior, region, UpperBound(1.0), generator)
        assert heights(posterior, UpperBound(1.0), best.point[None])[0] == pytest.approx(
            heights(posterior, UpperBound(1.0), points[500:]).max(), abs=1e-9
        )


def test_the_incumbent_of_a_slice_is_that_of_the_slice():
    """With the context held, the highest mean is looked for at the measured settings under this context."""
    from windvane.acquisition.log_ei import incumbent

    posterior = posterior_on(BOX, 3)
    region = wv.Region.all_of(BOX).fixed({2: 0.9})
    moved = posterior.observed.copy()
    moved[:, 2] = 0.9
    assert incumbent(posterior, region) == pytest.approx(posterior.at(moved)[0].max(), abs=1e-12)


def test_without_data_a_point_of_the_region():
    region = wv.Region.all_of(BOX).around([0.9, 0.9, 0.9], 0.05)
    posterior = posterior_on(BOX, 0, n=0)
    for acquisition in (wv.UCB(), wv.LogEI(), wv.Thompson(), wv.Uniform()):
        point = acquisition.propose(posterior, region, MOMENT, generator).point
        assert region.contains(point[None]).all()


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("name", ["gp-ucb", "auto"])
@pytest.mark.parametrize("tilt", [0.4, 0.55])
def test_where_a_condition_cuts_a_grid_the_edge_is_searched_as_well(dim, name, tilt):
    """Beside a dense grid of its own: no allowed candidate is better, and little hides between them."""
    space = wv.Box([(0, 1)] * dim)
    steep = np.linspace(1.0, 1.5, dim)
    side = (2001, 301, 61)[dim - 1]
    line = np.linspace(0.0, 1.0, side)
    dense = np.stack(np.meshgrid(*[line] * dim, indexing="ij"), axis=-1).reshape(-1, dim)
    for seed in range(4):
        posterior = posterior_on(space, seed, name=name, n=12)
        region = wv.Region.all_of(space).where(lambda points: points @ steep, tilt * steep.sum())
        for utility in (UpperBound(0.5), UpperBound(2.0)):
            point = maximise(posterior, region, utility, generator).point
            assert region.contains(point[None])[0]
            reached = heights(posterior, utility, point[None])[0]
            kept = posterior.candidates[region.contains(posterior.candidates)]
            assert reached >= heights(posterior, utility, kept).max() - 1e-7
            all_heights = heights(posterior, utility, dense[region.contains(dense)])
            assert reached >= all_heights.max() - 0.02 * np.ptp(all_heights)
