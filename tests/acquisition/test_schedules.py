"""Schedules of the exploration weight: the multiplier of sigma, sqrt(beta_t)."""

import math

import pytest

import windvane as wv
from windvane.acquisition import Moment, StagedBeta
from windvane.errors import InvalidArgument, InvalidType


def moment(step=1, elapsed=1, dim=2, gain=0.0):
    return Moment(step, elapsed, dim, lambda: gain)


@pytest.mark.parametrize("step", [1, 2, 17, 400])
def test_log_beta(step):
    assert wv.LogBeta().multiplier(moment(step, 3)) == pytest.approx(math.sqrt(0.4 * math.log(4.0 * step)))
    since = wv.LogBeta(0.8, 1.5, since_reset=True)
    assert since.multiplier(moment(999, step)) == pytest.approx(math.sqrt(0.8 * math.log(1.5 * step)))


def test_log_beta_is_clipped_at_zero():
    """The temperature experiments' c2 = 0.4 makes ln(c2 t) negative for t <= 2."""
    schedule = wv.LogBeta(0.8, 0.4)
    assert [schedule.multiplier(moment(step)) for step in (1, 2)] == [0.0, 0.0]
    assert schedule.multiplier(moment(3)) == pytest.approx(math.sqrt(0.8 * math.log(1.2)))


@pytest.mark.parametrize(("step", "dim"), [(1, 1), (1, 3), (50, 2), (400, 6)])
def test_theorem_1(step, dim):
    delta, a1, b1, r = 0.05, 1.5, 2.0, 1.0
    inner = step**2 * dim * b1 * r * math.sqrt(math.log(2 * dim * a1 * math.pi**2 * step**2 / (3 * delta)))
    beta = 2 * math.log(2 * math.pi**2 * step**2 / (3 * delta)) + 2 * dim * math.log(inner)
    found = wv.Theorem1Beta(delta, a1, b1, r).multiplier(moment(step, 7, dim))
    assert found == pytest.approx(math.sqrt(beta))


@pytest.mark.parametrize("gain", [0.0, 0.3, 25.0])
def test_igp_ucb(gain):
    expected = 2.0 + 0.3 * math.sqrt(2.0 * (gain + 1.0 + math.log(1.0 / 0.05)))
    assert wv.IGPBeta(2.0, 0.3, 0.05).multiplier(moment(gain=gain)) == pytest.approx(expected)
    assert wv.IGPBeta().multiplier(moment(gain=-1e-12)) == wv.IGPBeta().multiplier(moment(gain=0.0))


def test_constant():
    assert wv.ConstantBeta(9.0).multiplier(moment(5)) == 3.0
    assert wv.ConstantBeta(0.0).multiplier(moment(5)) == 0.0


def test_stages_are_counted_from_the_reset():
    schedule = StagedBeta(wv.LogBeta(), wv.LogBeta(1.2, 4.0), 50)
    assert schedule.multiplier(moment(400, 50)) == wv.LogBeta().multiplier(moment(400, 50))
    assert schedule.multiplier(moment(400, 51)) == wv.LogBeta(1.2, 4.0).multiplier(moment(400, 51))
    for bad, error in ((("x", wv.LogBeta(), 5), "early"), ((wv.LogBeta(), wv.LogBeta, 5), "late")):
        with pytest.raises(InvalidType, match=rf"beta\({error}\)"):
            StagedBeta(*bad)
    with pytest.raises(InvalidArgument, match=r"beta\(steps\)"):
        StagedBeta(wv.LogBeta(), wv.LogBeta(), -1)


def test_a_gain_is_computed_only_if_it_is_asked_for():
    def never():
        raise AssertionError

    for schedule in (wv.LogBeta(), wv.ConstantBeta(), wv.Theorem1Beta()):
        assert schedule.multiplier(Moment(3, 2, 2, never)) > 0.0


def test_the_optimiser_hands_over_the_global_step_and_the_steps_since_the_reset():
    seen = []

    class Spy:
        def multiplier(self, now):
            seen.append((now.step, now.elapsed, now.dim, now.information_gain()))
            return 1.0

    space = wv.Space(a=wv.Real(0, 1), mode=wv.Choice(["x", "y", "z"]))
    opt = wv.make("r-gp-ucb", space, period=3, kernel=wv.RBF(0.3), noise_variance=0.1, beta=Spy(), seed=0)
    for _ in range(5):
        opt.tell(opt.ask(), 0.0)
    assert [entry[:3] for entry in seen] == [(1, 1, 2), (2, 2, 2), (3, 3, 2), (4, 1, 2), (5, 2, 2)]
    gains = [entry[3] for entry in seen]
    assert gains[0] == 0.0
    assert gains[3] == pytest.approx(0.0, abs=1e-12)
    assert gains[1] == pytest.approx(0.5 * math.log1p(1.0 / 0.1))
    assert gains[2] > gains[1]
