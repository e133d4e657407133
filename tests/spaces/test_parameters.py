"""Real, Integer and Choice: scales, levels, distances, and bad arguments."""

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.errors import InvalidArgument, InvalidType
from windvane.spaces import Choice, Integer, Parameter, Real, Space

BIG = 2**40


@pytest.mark.parametrize(("u", "value"), [(0.0, 0.01), (0.25, 0.1), (0.5, 1.0), (1.0, 100.0)])
def test_log_scale(u: float, value: float) -> None:
    real = Real(0.01, 100, log=True)
    assert real.encode("x", value)[0] == pytest.approx(u, abs=1e-15)
    assert real.decode(np.array([u])) == pytest.approx(value, rel=1e-14)


@given(st.floats(1e-300, 1e300), st.floats(1.0001, 1e5), st.floats(-0.5, 1.5), st.booleans())
def test_real_bounds_are_exact(lo: float, factor: float, u: float, log: bool) -> None:
    real = Real(lo, lo * factor, log=log)
    assert real.encode("x", real.lo)[0] == 0.0
    assert real.encode("x", real.hi)[0] == 1.0
    assert real.decode(np.array([0.0])) == real.lo
    assert real.decode(np.array([1.0])) == real.hi
    assert real.lo <= real.decode(np.array([u])) <= real.hi


def test_rounding_does_not_pass_the_bounds() -> None:
    real = Real(6.2, 45.3, log=True)  # where exp(log(hi)) > hi
    assert real.decode(np.array([math.nextafter(1.0, 0.0)])) == 45.3


def test_integers_sit_at_equal_steps_and_log_integers_at_logarithms() -> None:
    assert Integer(-2, 2).levels().ravel().tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert Integer(2, 16, log=True).levels()[[0, 2, 6, 14], 0] == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert Integer(3, 3).levels().tolist() == [[0.5]]
    assert Integer(3, 3, log=True).levels().tolist() == [[0.5]]


@given(st.integers(1, BIG), st.booleans())
def test_the_widest_integers_survive(value: int, log: bool) -> None:
    integer = Integer(1, BIG, log=log)
    block = integer.encode("x", value)
    assert integer.decode(block) == value
    assert np.array_equal(integer.snap(block[None])[0], block)
    found = {integer.decode(row) for row in integer.neighbours(block)}
    assert {value - 1, value + 1} - {0, BIG + 1} <= found
    assert all(abs(each - value).bit_count() == 1 for each in found)  # 1, 2, 4, ... away
    assert all(1 <= each <= BIG for each in found)


def test_few_integers_have_the_next_ones_for_neighbours() -> None:
    integer = Integer(1, 16)
    block = integer.encode("x", 7)
    assert {integer.decode(row) for row in integer.neighbours(block)} == {6, 8}


def test_integers_far_from_zero() -> None:
    integer = Integer(10**30, 10**30 + 7)
    assert integer.decode(integer.encode("x", 10**30 + 3)) == 10**30 + 3


@pytest.mark.parametrize("count", [2, 3, 7])
def test_two_options_are_at_distance_one(count: int) -> None:
    levels = Choice(list(range(count))).levels()
    assert levels.shape == (count, count)
    distances = np.linalg.norm(levels[:, None] - levels[None], axis=2)
    assert distances == pytest.approx(1 - np.eye(count), abs=1e-15)


def test_a_single_option_takes_no_coordinate() -> None:
    space = Space(mode=Choice(["only"]))
    assert (space.dim, space.size) == (0, 1)
    assert space.decode(np.empty(0)) == {"mode": "only"}
    assert space.everything().shape == space.candidates(9).shape == space.configurations(1).shape == (1, 0)
    assert space.neighbours(np.empty(0)).shape == (0, 0)
    assert space.sample(np.random.default_rng(0), 3).shape == (3, 0)


def test_choice_tells_true_from_one_but_not_one_from_one_point_zero() -> None:
    assert Choice([1, 2]).encode("x", 2.0)[1] > 0
    assert Choice([1, 2]).encode("x", np.int64(2))[1] > 0
    assert Choice([False, True]).encode("x", np.bool_(True))[1] > 0
    with pytest.raises(InvalidArgument, match="x=True: must be one of 1, 2"):
        Choice([1, 2]).encode("x", True)
    with pytest.raises(InvalidArgument, match="x=1: must be one of False, True"):
        Choice([False, True]).encode("x", 1)


def test_numpy_options_become_native() -> None:
    given = [np.str_("a"), np.int64(1), np.float64(0.5), np.bool_(False)]
    assert [type(option) for option in Choice(given).options] == [str, int, float, bool]
    assert Choice(np.array([1, 2])) == Choice((1, 2)) == Choice(range(1, 3))


@pytest.mark.parametrize(
    "parameter", [Integer(1, 4), Integer(1, 4, log=True), Choice(["a", "b", "c", "d"])], ids=repr
)
def test_every_value_is_drawn_equally_often(parameter: Parameter) -> None:
    drawn = [parameter.decode(row) for row in parameter.sample(np.random.default_rng(0), 4000)]
    shares = np.unique(drawn, return_counts=True)[1] / 1000
    assert len(shares) == 4
    assert np.abs(shares - 1).max() < 0.15


def test_handed_out_blocks_are_copies() -> None:
    choice = Choice(["a", "b"])
    choice.levels()[:] = 9.0
    choice.encode("x", "a")[:] = 9.0
    choice.neighbours(np.array([1.0, 0.0]))[:] = 9.0
    assert choice.levels().max() < 1.0


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: Real(1, 1), InvalidArgument, "lo=1.0 must be below hi=1.0"),
        (lambda: Real(2, 1), InvalidArgument, "lo=2.0 must be below hi=1.0"),
        (lambda: Real(math.nan, 1), InvalidArgument, "lo=nan"),
        (lambda: Real(0, math.inf), InvalidArgument, "hi=inf"),
        (lambda: Real(-1e308, 1e308), InvalidArgument, "overflows"),
        (lambda: Real(0, 1, log=True), InvalidArgument, "lo must be above 0"),
        (lambda: Real(-1, 1, log=True), InvalidArgument, "lo must be above 0"),
        (lambda: Real(1e300, math.nextafter(1e300, 1e301), log=True), InvalidArgument, "same logarithm"),
        (lambda: Real(0, True), InvalidType, "hi=True"),
        (lambda: Real("0", 1), InvalidType, "lo='0'"),
        (lambda: Real(None, 1), InvalidType, "lo=None"),
        (lambda: Real(0, 1, log=1), InvalidType, r"Real\(log=1\): must be True or False"),
        (lambda: Real(1, 2, log="yes"), InvalidType, "log='yes'"),
        (lambda: Integer(2, 1), InvalidArgument, "hi must be at least lo"),
        (lambda: Integer(0, 4, log=True), InvalidArgument, "lo must be at least 1"),
        (lambda: Integer(-4, 4, log=True), InvalidArgument, "lo must be at least 1"),
        (lambda: Integer(0, BIG + 1), InvalidArgument, r"hi - lo must be at most 2\*\*40"),
        (lambda: Integer(9, BIG + 1, log=True), InvalidArgument, r"hi must be at most 2\*\*40"),
        (lambda: Integer(1.0, 2), InvalidType, r"lo=1\.0"),
        (lambda: Integer(1, math.inf), InvalidType, "hi=inf"),
        (lambda: Integer(1, math.nan), InvalidType, "hi=nan"),
        (lambda: Integer(False, 2), InvalidType, "lo=False"),
        (lambda: Integer("1", 2), InvalidType, "lo='1'"),
        (lambda: Integer(1, 2, log=None), InvalidType, "log=None"),
        (lambda: Choice([]), InvalidArgument, "options="),
        (lambda: Choice("ab"), InvalidType, "options='ab'"),
        (lambda: Choice({"a", "b"}), InvalidType, "options="),
        (lambda: Choice(3), InvalidType, "options=3"),
        (lambda: Choice(["a", "b", "a"]), InvalidArgument, r"options\[2\]='a': equals options\[0\]"),
        (lambda: Choice([1, 1.0]), InvalidArgument, r"options\[1\]=1.0: equals"),
        (lambda: Choice([1, True]), InvalidArgument, r"options\[1\]=True: equals"),
        (lambda: Choice([math.nan]), InvalidArgument, r"options\[0\]=nan"),
        (lambda: Choice([1.0, math.inf]), InvalidArgument, r"options\[1\]=inf"),
        (lambda: Choice([None]), InvalidType, r"options\[0\]=None"),
        (lambda: Choice([[1], [2]]), InvalidType, r"options\[0\]=\[1\]"),
        (lambda: Choice([1j]), InvalidType, r"options\[0\]=1j"),
    ],
)
def test_bad_constructors(build: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize(
    ("parameter", "value", "error", "message"),
    [
        (Real(0.1, 10), 0.05, InvalidArgument, "p=0.05: must be a finite number at least 0.1 and at most 10"),
        (Real(0.1, 10), 11, InvalidArgument, "p=11"),
        (Real(0.1, 10), math.nan, InvalidArgument, "p=nan"),
        (Real(0.1, 10), math.inf, InvalidArgument, "p=inf"),
        (Real(0.1, 10, log=True), 0.0, InvalidArgument, "p=0.0"),
        (Real(0.1, 10), True, InvalidType, "p=True"),
        (Real(0.1, 10), "1", InvalidType, "p='1'"),
        (Real(0.1, 10), [1.0], InvalidType, r"p=\[1.0\]"),
        (Integer(1, 8), 0, InvalidArgument, "p=0: must be an integer at least 1 and at most 8"),
        (Integer(1, 8), 9, InvalidArgument, "p=9"),
        (Integer(1, 8), 2.5, InvalidType, "p=2.5"),
        (Integer(1, 8), math.nan, InvalidType, "p=nan"),
        (Integer(1, 8), True, InvalidType, "p=True"),
        (Integer(1, 8), "2", InvalidType, "p='2'"),
        (Choice(["a", "b"]), "c", InvalidArgument, "p='c': must be one of 'a', 'b'"),
        (Choice(["a", "b"]), 0, InvalidArgument, "p=0"),
        (Choice(["a", "b"]), None, InvalidArgument, "p=None"),
        (Choice([1.0, 2.0]), math.nan, InvalidArgument, "p=nan"),
        (Choice(["a", "b"]), ["a"], InvalidType, r"p=\['a'\]: must be one of 'a', 'b'"),
    ],
)
def test_bad_values(parameter: Parameter, value: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{message}"):
        parameter.encode("p", value)


# -- steps of a real number ---------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.integers(-50, 50), st.integers(1, 400), st.sampled_from(["0.1", "0.5", "0.25", "0.01", "3", "1e-7"])
)
def test_a_real_with_a_step_takes_its_multiples_exactly(low, count, step):
    each, lo = Decimal(step), low * Decimal(step)
    parameter = wv.Real(float(lo), float(lo + count * each), step=float(step))
    values = [parameter.decode(level) for level in parameter.levels()]
    assert values == [float(lo + k * each) for k in range(count + 1)]
    assert parameter.size == count + 1
    for value in values[:: max(count // 7, 1)]:
        block = parameter.encode("x", value)
        assert parameter.decode(block) == value
        assert np.array_equal(parameter.snap(block[None]), block[None])


def test_steps_that_do_not_fit_are_refused():
    for bad in (0, -1, np.nan, np.inf, "1", True):
        with pytest.raises(wv.WindvaneError, match="step"):
            wv.Real(0, 1, step=bad)
    with pytest.raises(wv.InvalidArgument, match=r"use hi=0\.9 or hi=1\.2"):
        wv.Real(0, 1, step=0.3)
    with pytest.raises(wv.InvalidArgument, match="log"):
        wv.Real(1, 10, log=True, step=1)
    flow = wv.Real(0, 200, step=0.5)
    with pytest.raises(
        wv.InvalidArgument, match=r"flow=116\.2: must be 0 plus steps of 0\.5, such as 116\.0"
    ):
        flow.encode("flow", 116.2)
    assert flow.decode(flow.encode("flow", 0.1 + 0.2 + 0.2)) == 0.5


def test_what_is_asked_for_is_on_the_grid():
    space = wv.Space(flow=wv.Real(0, 10, step=0.1), gain=wv.Real(0, 1), mode=wv.Choice(["a", "b"]))
    for name in ("auto", "random"):
        opt = wv.make(name, space, seed=0, max_step={"flow": 0.5})
        last = None
        for _ in range(12):
            x = opt.ask()
            assert float(str(round(x["flow"], 1))) == x["flow"]
            assert last is None or abs(x["flow"] - last) < 0.5 + 1e-9
            last = x["flow"]
            opt.tell(x, -abs(x["flow"] - 7.3))
        twin = wv.restore(opt.state())
        assert twin.ask() == opt.ask()
    assert wv.restore(opt.state()).space == space
    assert "step" not in str(wv.make("random", wv.Space(a=wv.Real(0, 1)), seed=0).state()["space"])


def test_an_integer_takes_a_whole_float():
    taps = wv.Integer(1, 8)
    assert np.array_equal(taps.encode("taps", 2.0), taps.encode("taps", 2))
    assert np.array_equal(taps.encode("taps", np.float64(2.0)), taps.encode("taps", 2))
    for bad in (2.5, np.nan, np.inf, 9.0, True):
        with pytest.raises(wv.WindvaneError, match="taps"):
            taps.encode("taps", bad)
