"""Options: declared once, read from signatures, and consistent with what they say of themselves."""

import json
import math
import re
from dataclasses import dataclass

import numpy as np
import pytest

import windvane as wv
from windvane.algorithms import ALGORITHMS, fresh_seed
from windvane.kernels import Stationary
from windvane.options.declared import NEEDED, OPTIONS

BOX = wv.Box([(0.0, 1.0), (0.0, 1.0)])
GIVEN = {"kernel": wv.RBF(0.2), "noise_variance": 0.02}
NEEDS = {"rate": 0.03, "rate_bounds": (0.01, 0.05), "variation": 5.0, "horizon": 60}
EACH = pytest.mark.parametrize("name", wv.algorithms())


def needs(name):
    return {option: value for option, value in NEEDS.items() if option in ALGORITHMS[name].options}


def with_a_default(name):
    """The options of an algorithm whose default is a value."""
    found = {option: about.default for option, about in ALGORITHMS[name].options.items()}
    return {option: value for option, value in found.items() if value is not None and value is not NEEDED}


def test_every_option_is_taken_by_some_algorithm():
    assert {option for entry in ALGORITHMS.values() for option in entry.options} == set(OPTIONS)


@EACH
def test_what_is_said_of_an_option(name):
    for about in ALGORITHMS[name].options.values():
        for text in (about.purpose, about.allowed, about.default_text):
            assert text
            assert not text.endswith(".")
        assert all(other in OPTIONS for other, _ in about.excludes)


@EACH
def test_a_default_is_allowed_and_giving_it_changes_nothing(name):
    plain = wv.make(name, BOX, seed=0, **GIVEN, **needs(name)).composition
    for option, value in with_a_default(name).items():
        assert ALGORITHMS[name].options[option].check(option, value) == value
        given = {**GIVEN, **needs(name), option: value}
        found = wv.make(name, BOX, seed=0, **given).composition
        assert option in NEEDS or found == plain


@EACH
def test_the_range_that_is_said_is_the_range_that_is_checked(name):
    for option, about in ALGORITHMS[name].options.items():
        if re.fullmatch(
            r"(a number|an integer)( and)?( (above|below|at least|at most) [\d.]+( and)?)+", about.allowed
        ):
            with pytest.raises(wv.InvalidType) as refused:
                about.check(option, "x")
            said = str(refused.value).replace("a finite number", "a number")
            assert said == f"{option}='x': must be {about.allowed}"


# -- acquisition= ------------------------------------------------------------------------------------


@wv.component
@dataclass(frozen=True)
class Anywhere:
    """An acquisition of a user's own."""

    def propose(self, *parts):
        return wv.Uniform().propose(*parts)


@pytest.mark.parametrize("name", [name for name in wv.algorithms() if name != "random"])
def test_another_acquisition(name):
    opt = wv.make(name, BOX, seed=0, acquisition=Anywhere(), **GIVEN, **needs(name))
    asked = wv.make("random", BOX, seed=0).ask().tolist()
    given = opt.composition.acquisition
    assert (given.then if name == "auto" else given) == Anywhere()
    assert opt.ask().tolist() == asked
    assert wv.restore(json.loads(json.dumps(opt.state()))).ask().tolist() == asked


def test_beta_is_the_same_as_ucb_with_a_schedule():
    one = wv.make("et-gp-ucb", BOX, seed=0, acquisition=wv.UCB(wv.ConstantBeta(2.0)), **GIVEN)
    assert one.composition == wv.make("et-gp-ucb", BOX, seed=0, beta=2.0, **GIVEN).composition


def test_random_has_no_acquisition_to_choose():
    with pytest.raises(wv.InvalidArgument, match="does not use acquisition="):
        wv.make("random", BOX, acquisition=wv.UCB())


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [("auto", "beta", 2.0), ("igp-ucb", "beta", 2.0), ("igp-ucb", "bound", 2.0), ("igp-ucb", "delta", 0.2)],
)
def test_an_acquisition_brings_its_own(name, option, value):
    expected = f"{option}=, acquisition=: give one of the two; the acquisition decides how much to explore"
    with pytest.raises(wv.InvalidArgument, match=expected):
        wv.make(name, BOX, acquisition=wv.UCB(), **{option: value})
    with pytest.raises(wv.WindvaneError, match=f"{option}='x'"):  # checked first, though it is overruled
        wv.make(name, BOX, acquisition=wv.UCB(), **{option: "x"})


def test_the_delta_of_a_trigger_goes_with_any_acquisition():
    made = wv.make("et-gp-ucb", BOX, acquisition=wv.UCB(), delta=0.3).composition
    assert made.trigger == wv.PosteriorBound(0.3)


# -- auto as a composition ---------------------------------------------------------------------------


def test_auto_takes_a_trigger_and_a_window():
    made = wv.make(BOX, trigger=wv.ExactBound(0.05), reset_window=(3, 9), forced="empty", **GIVEN).composition
    assert isinstance(made.model, wv.Mixture)
    assert (made.trigger, made.on_trigger) == (wv.ExactBound(0.05), wv.SinceChange())
    assert (made.window, made.on_forced) == (wv.ResetWindow(3, 9), wv.Empty())


def test_auto_resets_at_the_end_of_its_window():
    opt = wv.make(BOX, reset_window=(1, 3), seed=0, **GIVEN)
    assert [opt.tell(opt.ask(), 0.01 * math.sin(t)).reset for t in range(6)] == [False, False, True] * 2


# -- reset windows from Corollary 1 ------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class Matern12(Stationary):
    """The exponential kernel, rougher than any that Corollary 1 covers."""

    def profile(self, squared):
        return np.exp(-np.sqrt(squared))

    def derivatives(self, squared):
        raise NotImplementedError


ROUGH = {
    "Matern32": wv.Matern32(0.2),
    "own": Matern12(0.2),
    "sum": wv.RBF(0.2) + wv.Matern32(0.3),
    "product": wv.Matern32(0.2) * wv.RBF(0.3),
}


@pytest.mark.parametrize("kernel", ROUGH.values(), ids=ROUGH)
@pytest.mark.parametrize(
    ("name", "options", "instead"),
    [
        ("et-gp-ucb", {"rate_bounds": (0.01, 0.05)}, r"give reset_window=\(N_low, N_high\)"),
        ("et-gp-ucb[0.01,0.05]", {}, r"give reset_window=\(N_low, N_high\) to 'et-gp-ucb'"),
        ("always-n-low", {"rate_bounds": (0.01, 0.05)}, "give period="),
    ],
)
def test_a_kernel_that_corollary_1_does_not_cover(name, options, instead, kernel):
    expected = f"kernel=.*Corollary 1.*covers wv.RBF, wv.Matern52 and wv.Empirical; {instead}"
    with pytest.raises(wv.InvalidArgument, match=expected) as refused:
        wv.make(name, BOX, kernel=kernel, noise_variance=0.1, **options)
    assert "nu" not in str(refused.value).replace("number", "")


@pytest.mark.parametrize("kernel", ROUGH.values(), ids=ROUGH)
def test_a_rough_kernel_with_a_window_of_its_own_or_none(kernel):
    given = {"kernel": kernel, "noise_variance": 0.1}
    assert wv.make("et-gp-ucb", BOX, reset_window=(3, 9), **given).composition.window == wv.ResetWindow(3, 9)
    assert wv.make("et-gp-ucb[0,1]", BOX, horizon=50, **given).composition.window == wv.ResetWindow(1, 50)
    assert wv.make("always-n-low", BOX, period=7, **given).composition.trigger == wv.Periodic(7)


def test_the_roughest_part_decides():
    def window(kernel):
        made = wv.make("et-gp-ucb", BOX, kernel=kernel, noise_variance=0.1, rate_bounds=(0.01, 0.05))
        return made.composition.window

    assert window(wv.RBF(0.2) + wv.Matern52(0.3)) == window(wv.Matern52(0.2)) != window(wv.RBF(0.2))
    assert window(wv.RBF(0.2) + wv.RBF(0.3)) == window(wv.RBF(0.2))


# -- goal and seed -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("spelt", "goal"), [("minimise", "minimize"), ("maximise", "maximize")])
def test_a_goal_in_british_spelling(spelt, goal):
    options = {"seed": 0, "scaling": wv.Scaling(3.0, 2.0), **GIVEN}
    one, other = wv.make("gp-ucb", BOX, goal=spelt, **options), wv.make("gp-ucb", BOX, goal=goal, **options)
    for y in (1.0, 2.0, 0.5):
        x = one.ask()
        assert x.tolist() == other.ask().tolist()
        one.tell(x, y), other.tell(x, y)
    assert one.goal == goal
    assert one.state() == other.state()
    log = wv.Log([[0.1, 0.2], [0.9, 0.4], [0.5, 0.6]], [1.0, 0.2, 1.4])
    assert wv.replay(log, "gp-ucb", BOX, goal=spelt).goal == goal


def test_a_seed_that_nobody_gave_survives_a_reader_that_has_only_floats():
    for _ in range(50):
        seed = wv.make("random", BOX).seed
        assert int(json.loads(json.dumps(seed), parse_int=float)) == seed
    assert len({fresh_seed() for _ in range(50)}) == 50
