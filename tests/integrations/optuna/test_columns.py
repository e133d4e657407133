"""Distributions as parameters: always inside, always on the grid, there and back."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from windvane.errors import InvalidArgument, InvalidType
from windvane.integrations.optuna.columns import column, columns, inward, outward, point, space, widest

finite = st.floats(-1e6, 1e6, allow_subnormal=False)


@st.composite
def floats(draw):
    low, high = sorted((draw(finite), draw(finite)))
    return FloatDistribution(low, high)


@st.composite
def log_floats(draw):
    low, high = sorted((draw(st.floats(1e-300, 1e300)), draw(st.floats(1e-300, 1e300))))
    return FloatDistribution(low, high, log=True)


@st.composite
def float_grids(draw):
    step = draw(st.sampled_from([0.1, 0.25, 0.01, 1.0, 3.0, 1e-3, 0.7]))
    low = draw(st.integers(-1000, 1000)) * step
    return FloatDistribution(low, low + draw(st.integers(0, 500)) * step, step=step)


@st.composite
def integers(draw):
    low, step = draw(st.integers(-(10**6), 10**6)), draw(st.integers(1, 50))
    return IntDistribution(low, low + step * draw(st.integers(0, 10**5)), step=step)


@st.composite
def log_integers(draw):
    low = draw(st.integers(1, 10**6))
    return IntDistribution(low, low + draw(st.integers(0, 10**7)), log=True)


wide_integers = st.sampled_from([IntDistribution(0, 2**50), IntDistribution(1, 2**50, log=True)])
choices = st.lists(
    st.one_of(st.none(), st.booleans(), st.text(max_size=3), st.integers(-9, 9), st.just(math.nan)),
    min_size=1,
    max_size=6,
).map(CategoricalDistribution)
anything = st.one_of(
    floats(), log_floats(), float_grids(), integers(), log_integers(), wide_integers, choices
)
quick = settings(deadline=None, max_examples=100)
GRIDS = "ignore:The distribution is specified by:UserWarning"  # low + n step is not exact in binary


def contained(distribution, value):
    """Optuna's own opinion."""
    return distribution._contains(distribution.to_internal_repr(value))


@pytest.mark.filterwarnings(GRIDS)
@quick
@given(anything, st.integers(0, 2**32))
def test_what_comes_out_is_contained_and_comes_back(distribution, seed):
    one = column("x", distribution)
    rng = np.random.default_rng(seed)
    if not distribution.single():
        drawn = one.parameter.sample(rng, 3)
        for block in one.parameter.snap(drawn):
            value = one.outward(one.parameter.decode(block))
            assert contained(distribution, value)
            assert type(value) is not np.float64
            again = one.outward(one.inward(value))
            assert again is value or again == value
    assert all(contained(distribution, one.draw(rng)) for _ in range(5))


@pytest.mark.filterwarnings(GRIDS)
@quick
@given(st.one_of(floats(), float_grids(), integers(), log_integers()), finite)
def test_inside_and_outside_as_optuna_sees_it(distribution, value):
    if isinstance(distribution, IntDistribution):
        value = int(value)
        if distribution.log and value <= 0:
            assert column("x", distribution).inward(value) is None
            return
    assert (column("x", distribution).inward(value) is not None) == contained(distribution, value)


def test_a_grid_is_exact():
    tenths = column("x", FloatDistribution(-1.0, 1.0, step=0.1))
    assert [tenths.outward(i) for i in range(21)] == [(i - 10) / 10 for i in range(21)]
    assert all(tenths.inward((i - 10) / 10) == i for i in range(21))
    assert tenths.inward(0.1 + 0.2) == 13  # off by a rounding error, which Optuna tolerates


def test_integers_are_integers_and_choices_are_the_objects():
    odd = column("k", IntDistribution(3, 9, step=2))
    assert [odd.outward(i) for i in range(4)] == [3, 5, 7, 9]
    assert odd.inward(4) is None
    assert type(odd.outward(1)) is int
    options = [None, True, "a", 1.5]
    modes = column("m", CategoricalDistribution(options))
    assert [modes.outward(modes.inward(each)) for each in options] == options
    assert modes.inward("b") is None


def test_choices_that_no_storage_can_keep():
    with pytest.warns(UserWarning, match="persistent storage"):
        distribution = CategoricalDistribution([[1, 2], {"a": 3}])
    kept = column("m", distribution)
    assert kept.outward(1) is distribution.choices[1]
    assert kept.inward({"a": 3}) == 1
    assert columns({"m": distribution}) == (kept,)  # compared, though it has no hash


def test_draws_are_uniform_on_the_scale():
    rng = np.random.default_rng(0)
    logs = [math.log10(column("x", FloatDistribution(1e-4, 1.0, log=True)).draw(rng)) for _ in range(4000)]
    assert np.mean(logs) == pytest.approx(-2.0, abs=4 * 4 / math.sqrt(12 * 4000))
    ends = [column("k", IntDistribution(1, 4)).draw(rng) for _ in range(4000)]
    counts = np.bincount(ends, minlength=5)[1:]
    assert ((counts - 1000) ** 2 / 1000).sum() < 16.3  # chi-square with 3 degrees of freedom, 0.1 %
    powers = [column("k", IntDistribution(1, 1000, log=True)).draw(rng) for _ in range(4000)]
    assert np.mean(np.array(powers) <= 31) == pytest.approx(
        (math.log(31.5) - math.log(0.5)) / (math.log(1000.5) - math.log(0.5)), abs=0.035
    )


def test_a_point_goes_in_and_out():
    of = columns({"b": IntDistribution(1, 4), "a": FloatDistribution(0.0, 1.0)})
    assert [each.name for each in of] == ["a", "b"]
    inner = inward(of, {"b": 2, "a": 0.5, "other": 7})
    assert inner == (0.5, 1)
    assert outward(of, point(of, inner)) == {"a": 0.5, "b": 2}
    assert inward(of, {"a": 0.5}) is None
    assert inward(of, {"a": 1.5, "b": 2}) is None
    assert space(()).encode(point((), ())).shape == (1,)


def test_the_widest_of_several_ranges():
    assert widest([FloatDistribution(2, 3), FloatDistribution(0, 1)]) == FloatDistribution(0, 3)
    assert widest([IntDistribution(0, 10, step=5), IntDistribution(5, 20, step=5)]) == IntDistribution(
        0, 20, step=5
    )
    newest = IntDistribution(0, 10, step=5)
    assert widest([newest, IntDistribution(1, 21, step=5)]) == newest  # another grid
    assert widest([newest, IntDistribution(0, 10)]) == newest
    assert widest([FloatDistribution(0, 0.3, step=0.1), FloatDistribution(0.1, 0.5, step=0.1)]) == (
        FloatDistribution(0, 0.5, step=0.1)
    )


def test_what_cannot_be_is_refused_by_name():
    with pytest.raises(InvalidArgument, match="parameter 'x': Real: hi - lo overflows"):
        _ = column("x", FloatDistribution(-1.7e308, 1.7e308)).parameter
    with pytest.raises(InvalidType, match="parameter 'x': 3 is not a FloatDistribution"):
        column("x", 3)
