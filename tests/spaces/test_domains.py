"""What every domain promises, checked on random boxes, arms and spaces."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from windvane import codec
from windvane.spaces import Arms, Box, Candidates, Choice, Domain, Integer, Parameter, Real, Space

QUICK = settings(max_examples=60, deadline=None)
ROOT_HALF = 1 / np.sqrt(2)


@st.composite
def intervals(draw: Any) -> tuple[float, float]:
    lo = draw(st.floats(-1e6, 1e6))
    return lo, lo + draw(st.floats(1e-3, 1e6))


@st.composite
def reals(draw: Any) -> Real:
    if draw(st.booleans()):
        lo = draw(st.floats(1e-6, 1e3))
        return Real(lo, lo * draw(st.floats(1.01, 1e9)), log=True)
    return Real(*draw(intervals()))


@st.composite
def integers(draw: Any, most: int = 2**30) -> Integer:
    log = draw(st.booleans())
    lo = draw(st.integers(1 if log else -(10**6), 10**6))
    return Integer(lo, lo + draw(st.integers(0, most)), log=log)


options = st.one_of(st.text(max_size=3), st.integers(-9, 9), st.floats(-9, 9), st.booleans())
choices = st.lists(options, min_size=1, max_size=4, unique=True).map(Choice)


def spaces(*parameters: st.SearchStrategy[Any]) -> st.SearchStrategy[Space]:
    return st.dictionaries(st.text(max_size=4), st.one_of(*parameters), min_size=1, max_size=4).map(Space)


boxes = st.lists(intervals(), min_size=1, max_size=4).map(Box)
arms = st.integers(1, 500).map(Arms)


@st.composite
def lists_of_settings(draw: Any) -> Candidates:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    count = draw(st.integers(1, 40))
    numbers = rng.choice(1000, count, replace=False)
    if draw(st.booleans()):
        return Candidates(np.stack((numbers * 0.37 - 5.0, rng.normal(size=count)), axis=1))
    columns: dict[str, Any] = {"taps": numbers + 1, "mode": rng.choice(["a", "b", "c"], count)}
    columns |= {"on": rng.integers(2, size=count) == 1, "flow": np.full(count, 3.5)}
    return Candidates(columns, scale={"taps": "log"} if draw(st.booleans()) else {})


candidates = lists_of_settings()
domains: st.SearchStrategy[Domain] = st.one_of(boxes, arms, candidates, spaces(reals(), integers(), choices))
small: st.SearchStrategy[Domain] = st.one_of(arms, spaces(integers(most=5), choices))
mixed = spaces(reals(), integers(most=3), choices)
seeds = st.integers(0, 2**32 - 1)


def value_of(parameter: Parameter, draw: Any) -> Any:
    if isinstance(parameter, Choice):
        return draw(st.sampled_from(parameter.options))
    if isinstance(parameter, Integer):
        return draw(st.integers(parameter.lo, parameter.hi))
    assert isinstance(parameter, Real)
    return draw(st.floats(parameter.lo, parameter.hi))


def draw_point(domain: Domain, draw: Any) -> Any:
    if isinstance(domain, Box):
        return np.array([draw(st.floats(lo, hi)) for lo, hi in domain.bounds])
    if isinstance(domain, Arms | Candidates):
        return draw(st.integers(0, domain.size - 1))
    assert isinstance(domain, Space)
    return {name: value_of(parameter, draw) for name, parameter in domain.parameters}


def anywhere(domain: Domain, seed: int, count: int = 20) -> Any:
    """Points on and off the feasible set, inside and outside the cube."""
    return np.random.default_rng(seed).uniform(-0.3, 1.3, (count, domain.dim)) * (domain.size or 1)


def assert_feasible(domain: Domain, units: Any) -> None:
    """Coordinate by coordinate, without a call of the domain's own methods."""
    assert units.ndim == 2
    assert units.shape[1] == domain.dim
    assert units.dtype == np.float64
    if isinstance(domain, Arms):
        assert np.isin(units, np.arange(domain.n)).all()
        return
    assert ((units >= 0) & (units <= 1)).all()
    start = 0
    for _, parameter in domain.parameters if isinstance(domain, Space) else ():
        block = units[:, start : start + parameter.dim]
        start += parameter.dim
        if isinstance(parameter, Choice) and parameter.dim:
            assert np.allclose(np.sort(block)[:, -1], ROOT_HALF, rtol=1e-15)
            assert ((block != 0).sum(axis=1) == 1).all()
        if isinstance(parameter, Integer):
            span = parameter.hi - parameter.lo
            if span == 0:
                assert (block == 0.5).all()
            elif parameter.log:
                values = parameter.lo * (parameter.hi / parameter.lo) ** block
                assert np.allclose(values, np.rint(values), atol=1e-4, rtol=0)
            else:
                assert np.allclose(block * span, np.rint(block * span), atol=1e-6, rtol=0)


def assert_same(domain: Domain, back: Any, x: Any) -> None:
    if isinstance(domain, Box):
        scale = np.abs(domain.bounds).max(axis=1)
        assert (np.abs(back - x) <= 1e-12 * scale).all()
    elif isinstance(domain, Arms | Candidates):
        assert back == x
        assert type(back) is int
    else:
        assert isinstance(domain, Space)
        assert list(back) == [name for name, _ in domain.parameters]
        for name, parameter in domain.parameters:
            if isinstance(parameter, Real):
                scale = abs(x[name]) if parameter.log else max(abs(parameter.lo), abs(parameter.hi))
                assert abs(back[name] - x[name]) <= 1e-12 * scale
            else:
                assert back[name] == x[name]
            assert type(back[name]) is type(x[name])


@QUICK
@given(domains, st.data())
def test_decode_undoes_encode(domain: Domain, data: Any) -> None:
    x = draw_point(domain, data.draw)
    unit = domain.encode(x)
    assert unit.shape == (domain.dim,)
    assert_feasible(domain, unit[None])
    assert_same(domain, domain.decode(unit), x)


@QUICK
@given(domains, st.data())
def test_encode_many_is_encode_row_by_row(domain: Domain, data: Any) -> None:
    points = [draw_point(domain, data.draw) for _ in range(3)]
    expected = [domain.encode(x) for x in points]
    assert np.array_equal(domain.encode_many(points), expected)
    if not isinstance(domain, Space):
        assert np.array_equal(domain.encode_many(np.array(points)), expected)


@QUICK
@given(domains, seeds)
def test_decode_of_anything_can_be_encoded(domain: Domain, seed: int) -> None:
    for unit in anywhere(domain, seed):
        assert_feasible(domain, domain.encode(domain.decode(unit))[None])


@QUICK
@given(domains, seeds)
def test_snap_is_feasible_idempotent_and_agrees_with_decode(domain: Domain, seed: int) -> None:
    units = anywhere(domain, seed)
    snapped = domain.snap(units)
    assert_feasible(domain, snapped)
    assert np.array_equal(domain.snap(snapped), snapped)
    for unit, nearest in zip(units, snapped, strict=True):
        assert_same(domain, domain.decode(nearest), domain.decode(unit))


@QUICK
@given(small, seeds)
def test_snap_is_nearest(domain: Domain, seed: int) -> None:
    everything = domain.everything()
    for unit, snapped in zip(anywhere(domain, seed), domain.snap(anywhere(domain, seed)), strict=True):
        best = np.linalg.norm(everything - unit, axis=1).min()
        assert np.linalg.norm(snapped - unit) == pytest.approx(best, rel=1e-9, abs=1e-12)


@QUICK
@given(domains, seeds)
def test_snap_leaves_encoded_points_alone(domain: Domain, seed: int) -> None:
    units = domain.sample(np.random.default_rng(seed), 20)
    assert np.array_equal(domain.snap(units), units)


@QUICK
@given(domains, seeds)
def test_samples_are_feasible_and_follow_the_generator(domain: Domain, seed: int) -> None:
    units = domain.sample(np.random.default_rng(seed), 30)
    assert len(units) == 30
    assert_feasible(domain, units)
    assert np.array_equal(units, domain.sample(np.random.default_rng(seed), 30))


@QUICK
@given(domains, st.integers(1, 200))
def test_candidates_are_distinct_feasible_and_repeatable(domain: Domain, count: int) -> None:
    units = domain.candidates(count)
    assert 1 <= len(units) <= count
    assert_feasible(domain, units)
    assert np.array_equal(domain.snap(units), units)
    assert len(np.unique(units, axis=0)) == len(units) or domain.dim == 0
    assert np.array_equal(units, domain.candidates(count))


@QUICK
@given(small)
def test_everything_lists_each_point_once_in_order(domain: Domain) -> None:
    everything = domain.everything()
    assert_feasible(domain, everything)
    decoded = [domain.decode(unit) for unit in everything]
    if isinstance(domain, Space):
        values = [p.options if isinstance(p, Choice) else range(p.lo, p.hi + 1) for _, p in domain.parameters]
        assert domain.size == np.prod([len(v) for v in values])
        ranks = [
            tuple(v.index(x[name]) for v, (name, _) in zip(values, domain.parameters, strict=True))
            for x in decoded
        ]
        assert ranks == sorted(set(ranks))
    else:
        assert decoded == list(range(domain.size))
    assert len(decoded) == domain.size
    assert np.array_equal(everything, domain.encode_many(decoded))
    assert np.array_equal(domain.candidates(domain.size), everything)
    assert np.array_equal(domain.configurations(domain.size), everything)
    assert domain.configurations(domain.size - 1) is None


@QUICK
@given(mixed)
def test_configurations_vary_the_discrete_coordinates_only(domain: Space) -> None:
    sizes = [p.size for _, p in domain.parameters if p.size is not None]
    count = int(np.prod(sizes))
    configurations = domain.configurations(count)
    assert configurations is not None
    assert domain.configurations(count - 1) is None
    assert_feasible(domain, configurations)
    assert (configurations[:, domain.free] == 0.5).all()
    assert len(np.unique(configurations, axis=0)) == count == len(configurations) or domain.dim == 0


@QUICK
@given(mixed)
def test_candidates_share_out_the_configurations(domain: Space) -> None:
    configurations = domain.configurations(64)
    assume(configurations is not None and domain.free.any())
    units = domain.candidates(257)
    assert len(units) == 257
    discrete, share = np.unique(units[:, ~domain.free], axis=0, return_counts=True)
    if (~domain.free).any():
        assert len(discrete) == len(np.unique(configurations, axis=0))
        assert share.max() - share.min() <= 1
    assert (np.ptp(units[:, domain.free], axis=0) > 0.9).all()


@QUICK
@given(domains, seeds)
def test_neighbours_differ_in_one_parameter(domain: Domain, seed: int) -> None:
    unit = domain.sample(np.random.default_rng(seed), 1)[0]
    neighbours = domain.neighbours(unit)
    assert_feasible(domain, neighbours)
    if not isinstance(domain, Space):
        assert neighbours.shape == (0, domain.dim)
        return
    here, there = domain.decode(unit), [domain.decode(row) for row in neighbours]
    changes = [[name for name in here if x[name] != here[name]] for x in there]
    assert all(len(change) == 1 for change in changes)
    for name, parameter in domain.parameters:
        found = {x[name] for x, change in zip(there, changes, strict=True) if change == [name]}
        if isinstance(parameter, Choice):
            assert found == set(parameter.options) - {here[name]}
        elif isinstance(parameter, Integer):
            assert {here[name] - 1, here[name] + 1} - {parameter.lo - 1, parameter.hi + 1} <= found
            assert all(abs(each - here[name]).bit_count() == 1 for each in found)  # 1, 2, 4, ... away
            assert all(parameter.lo <= each <= parameter.hi for each in found)
        else:
            assert found == set()
    assert len(np.unique(neighbours, axis=0)) == len(neighbours) or domain.dim == 0


@QUICK
@given(domains)
def test_json_round_trip(domain: Domain) -> None:
    # Sorted keys must not reorder the coordinates.
    text = json.dumps(codec.encode(domain), sort_keys=True)
    back = codec.decode(json.loads(text))
    assert back == domain
    assert hash(back) == hash(domain)
    assert repr(back) == repr(domain)


@QUICK
@given(domains)
def test_shape_of_the_encoding(domain: Domain) -> None:
    assert domain.free.shape == (domain.dim,)
    assert domain.free.dtype == np.bool_
    assert not domain.free.flags.writeable
    assert (domain.size is None) == bool(domain.free.any())


@pytest.mark.parametrize(
    "domain",
    [Box([(0, 1), (2, 3)]), Arms(5), Space(a=Real(0, 1), b=Integer(1, 3)), Space(c=Choice(["a", "b"]))],
    ids=repr,
)
@pytest.mark.parametrize("bad", [[[np.nan]], [[np.inf]], [0.5], 0.5, [[0.5] * 9]])
def test_snap_rejects_what_is_not_a_row_of_numbers(domain: Domain, bad: Any) -> None:
    with pytest.raises(ValueError, match="units: must"):
        domain.snap(
            np.array(bad) if np.ndim(bad) < 2 or len(bad[0]) > 1 else np.repeat(bad, domain.dim, axis=1)
        )
    assert domain.snap(np.empty((0, domain.dim))).shape == (0, domain.dim)


@pytest.mark.parametrize("domain", [Box([(0, 1)]), Arms(5), Space(b=Integer(1, 3))], ids=repr)
def test_counts_are_checked(domain: Domain) -> None:
    rng = np.random.default_rng(0)
    assert domain.sample(rng, 0).shape == (0, 1)
    for call in (lambda: domain.sample(rng, -1), lambda: domain.candidates(0)):
        with pytest.raises(ValueError, match="count="):
            call()
    with pytest.raises(TypeError, match=r"count=1\.5"):
        domain.candidates(1.5)  # type: ignore[arg-type]
    for bad in ([np.nan], [0.1, 0.2], 0.5):
        with pytest.raises(ValueError, match="unit"):
            domain.decode(bad)
        with pytest.raises(ValueError, match="unit"):
            domain.neighbours(bad)
