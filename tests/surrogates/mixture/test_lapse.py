"""A sudden change that nobody believes is given up; one that is believed stays, and is noticed as before."""

import numpy as np
import pytest
from following import Following

import windvane as wv
from windvane.data import Observation
from windvane.kernels import RBF
from windvane.surrogates import Mixture
from windvane.surrogates.mixture.tuning import BELIEVABLE

LINE = wv.Box([(0.0, 1.0)])
LAPSE = 8


def observe(follower, x, y):
    step = len(follower.data) + 1
    follower.extend(follower.data + Observation(np.array([x]), y, float(step), step))


def model(lapse):
    return Mixture(RBF(0.2), 0.01, hazard=0.01, lapse=lapse)


def smooth(follower, steps, seed=0):
    """A function that stands still, with its noise; what was held possible after each step."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(steps):
        x = float(rng.uniform())
        observe(follower, x, np.sin(6.0 * x) + 0.1 * rng.normal())
        found.append([member.born for member in follower.members[follower.permanent :]])
    return found


def test_nothing_is_held_possible_for_longer_than_that():
    found = smooth(Following(LINE, model(LAPSE)), 60)
    assert all(born >= step - LAPSE for step, births in enumerate(found, start=1) for born in births)
    forever = smooth(Following(LINE, model(0)), 60)
    assert any(born < step - LAPSE for step, births in enumerate(forever, start=1) for born in births)


def test_weights_are_shared_out_among_those_that_stay():
    follower = Following(LINE, model(LAPSE))
    smooth(follower, 40)
    assert follower.weights.sum() == pytest.approx(1.0)
    assert len(follower.weights) == len(follower.members)


def test_what_is_believed_does_not_lapse():
    """Half a world changes, and is looked at all the time: the evidence comes at once, and is kept."""
    follower = Following(LINE, model(LAPSE))
    smooth(follower, 40)
    rng = np.random.default_rng(1)
    for _ in range(3 * LAPSE):
        x = float(rng.uniform())
        observe(follower, x, -np.sin(6.0 * x) + 0.1 * rng.normal())
        births = [member.born for member in follower.members[follower.permanent :]]
    assert follower.weights[follower.permanent :].sum() > BELIEVABLE
    assert any(abs(born - 41) <= 1 for born in births)


def test_without_it_an_older_state_goes_on_as_it_was():
    """States that were written before do not have the field."""
    opt = wv.make(LINE, kernel=RBF(0.2), noise_variance=0.01, seed=0)
    assert opt.model.lapse == 30
    state = opt.state()
    text = repr(state)
    assert "'lapse': 30" in text

    def older(part):
        if isinstance(part, dict):
            return {name: older(each) for name, each in part.items() if name != "lapse"}
        return [older(each) for each in part] if isinstance(part, list) else part

    assert wv.restore(older(state)).model.lapse == 0


@pytest.mark.parametrize("lapse", [-1, 1.5, True, None, "30"])
def test_a_number_of_steps(lapse):
    with pytest.raises(wv.WindvaneError, match=r"Mixture\(lapse\)"):
        model(lapse)
