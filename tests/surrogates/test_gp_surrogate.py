"""The surrogate as a value: nothing that is done with its successors is ever noticed, to the last bit."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

import windvane as wv
from windvane.data import Dataset, Observation
from windvane.kernels import RBF, Markov, Matern52, Static, Wiener
from windvane.surrogates import GPSurrogate, Model, Noise, Scaling, Search, candidates, gp_surrogate
from windvane.surrogates import gp as gp_module
from windvane.surrogates.candidates import candidate_cache

BOX = wv.Box([(0, 1), (0, 1)])
POINTS = np.random.default_rng(0).uniform(size=(7, 2))
SEARCH = Search(starts=1)
MODELS = {
    "static": Model(RBF([0.3, 0.4]), Noise(0.05), scaling=Scaling(1.0, 2.0)),
    "markov": Model(RBF(0.3), Noise(0.05), Markov(0.05)),
    "wiener": Model(Matern52(0.3), Noise(0.05), Wiener(0.05)),
    "sum": Model(RBF(0.3), Noise(0.05), Static(0.5) + Markov(0.1)),
    "weighted": Model(RBF(0.3), Noise(0.05, forgetting=0.95)),
}


def observation(number, seed=0):
    rng = np.random.default_rng((seed, number))
    return Observation(rng.uniform(size=2), float(rng.normal(1.0, 2.0)), float(1 + number // 2), number + 1)


def snapshot(surrogate, now=40.0):
    """Everything that can be read off a surrogate, as bytes."""
    posterior = surrogate.posterior(now)
    numbers = [
        *posterior.on_candidates(),
        *posterior.on_observed(),
        *posterior.at(POINTS),
        *surrogate.predict(POINTS, now),
        *posterior.surface(POINTS)[:4],
        np.array(posterior.local(POINTS[0]).means),
        np.array([surrogate.information_gain(), *surrogate.forecast(POINTS[0], now).prediction]),
    ]
    return json.dumps(surrogate.state()), [each.tobytes() for each in numbers]


def moved(surrogate, kind, where, seed=0):
    """A successor, by one of the ways that there are."""
    data = surrogate.data
    new = observation(int(data.steps[-1]) if len(data) else 0, seed)
    if kind == "append":
        forecast = surrogate.forecast(new.x, new.time)
        return surrogate.follow(data + new, surrogate.weigh(new, forecast))
    if kind == "slide" and len(data):
        kept = np.flatnonzero(np.arange(len(data)) != int(where * len(data)))
        return surrogate.follow(data.take(kept) + new)
    if kind == "restart":
        return surrogate.restart(data.take(slice(int(where * len(data)), None)) + new)
    if kind == "learn" and len(data) > 2:
        return surrogate.learn(SEARCH, rescale=where < 0.5, seed=0)
    if kind == "centre" and len(data):
        return surrogate.centre(data.y)
    return surrogate


KINDS = st.sampled_from(["append"] * 4 + ["slide"] * 2 + ["restart", "learn", "centre"])
MOVES = st.lists(st.tuples(KINDS, st.floats(0.0, 0.999)), max_size=12)


@pytest.mark.parametrize("name", MODELS)
@given(past=MOVES, futures=st.lists(st.tuples(st.integers(0, 99), MOVES), min_size=1, max_size=4))
@settings(max_examples=12, deadline=None)
def test_no_surrogate_notices_what_becomes_of_others(name, past, futures):
    def grown():
        surrogate = MODELS[name].surrogate(BOX)
        for kind, where in past:
            surrogate = moved(surrogate, kind, where)
        return surrogate

    old, twin = grown(), grown()
    everything = [(old, snapshot(old))]
    for seed, (start, moves) in enumerate(futures):  # each from one of those that there are
        surrogate, _ = everything[start % len(everything)]
        for kind, where in moves:
            surrogate = moved(surrogate, kind, where, seed)
            everything.append((surrogate, snapshot(surrogate)))
    for surrogate, before in everything:
        assert snapshot(surrogate) == before
    assert snapshot(twin) == snapshot(old)
    for kind in ("append", "slide", "restart", "learn"):
        assert snapshot(moved(old, kind, 0.3)) == snapshot(moved(twin, kind, 0.3))


@pytest.mark.parametrize("name", MODELS)
@given(moves=MOVES)
@settings(max_examples=12, deadline=None)
def test_restored_bit_for_bit(name, moves):
    surrogate = MODELS[name].surrogate(BOX)
    for number, (kind, where) in enumerate(moves):
        surrogate = moved(surrogate, kind, where)
        if where < 0.3:
            surrogate.posterior(float(1 + number)).on_candidates()  # looking changes nothing
    state = json.loads(json.dumps(surrogate.state()))
    restored = surrogate.model.restored(BOX, state)
    assert snapshot(restored) == snapshot(surrogate)
    assert snapshot(moved(restored, "append", 0.0)) == snapshot(moved(surrogate, "append", 0.0))


def counted(monkeypatch):
    """How often a matrix was factored from scratch."""
    found = []
    rebuild = gp_module.Factor.rebuild

    def watched(self, K):
        found.append(len(K))
        return rebuild(self, K)

    monkeypatch.setattr(gp_module.Factor, "rebuild", watched)
    return found


def test_noise_that_grows_with_age_costs_one_factorisation_a_step(monkeypatch):
    found = counted(monkeypatch)
    opt = wv.make("w-gp-ucb", BOX, forgetting=0.95, kernel=RBF(0.3), noise_variance=0.05, seed=0)
    for t in range(30):
        x = opt.ask()
        opt.predict(POINTS)
        opt.tell(x, math.sin(t))
        opt.best()
    assert found == list(range(1, 31))
    state, before = opt.state(), len(found)
    restored = wv.restore(state)
    assert len(found) == before  # nothing is replayed
    assert np.array_equal(restored.ask(), opt.ask())


def test_a_journal_of_the_noise_that_grows_with_age_is_still_read():
    """Older versions wrote one; the data are what it leads to."""
    surrogate = MODELS["weighted"].surrogate(BOX)
    for number in range(12):
        surrogate = moved(surrogate, "append" if number < 8 else "slide", 0.3)
    state = surrogate.state()
    journal = [gp_surrogate.plain(observation(number)) for number in range(12)]
    gone = sorted({row[3] for row in journal} - {row[3] for row in state["base"]})
    older = {**state, "base": [], "journal": [*journal, *gone]}
    assert snapshot(surrogate.model.restored(BOX, older)) == snapshot(surrogate)


def test_alone_is_a_prediction_from_those_data_and_the_model_in_force():
    model = Model(RBF(0.3), Noise(0.05), Markov(0.05), Scaling(3.0, 2.0))
    surrogate = model.surrogate(BOX)
    for _ in range(9):
        surrogate = moved(surrogate, "append", 0.0)
    some, new = surrogate.data.take(slice(2, 6)), observation(9)
    found = surrogate.alone(some, new)
    K = RBF(0.3).matrix(some.X, some.X) * Markov(0.05).matrix(some.times, some.times) + 0.05 * np.eye(4)
    k = RBF(0.3).matrix(new.x[None], some.X)[0] * Markov(0.05).cross(some.times, new.time)
    assert found.mean == pytest.approx(3.0 + 2.0 * (k @ np.linalg.solve(K, (some.y - 3.0) / 2.0)))
    assert found.std == pytest.approx(2.0 * math.sqrt(1.0 - k @ np.linalg.solve(K, k)))
    assert found.noise_variance == pytest.approx(4.0 * 0.05)
    nothing = surrogate.alone(Dataset.empty(2), new)
    assert nothing == (3.0, 2.0, pytest.approx(0.2))


def test_opinions_multiply_to_the_joint_density():
    surrogate = MODELS["static"].surrogate(BOX)
    total = 0.0
    for number in range(15):
        new = observation(number)
        opinion = surrogate.weigh(new, surrogate.forecast(new.x, new.time))
        assert (opinion.outlier, opinion.changes, dict(opinion.beliefs)) == (0.0, (), {})
        total += opinion.log_density
        surrogate = surrogate.follow(surrogate.data + new, opinion)
    data, model = surrogate.data, surrogate.model
    K = 4.0 * (model.kernel.matrix(data.X, data.X) + 0.05 * np.eye(15))
    assert total == pytest.approx(multivariate_normal(np.full(15, 1.0), K).logpdf(data.y), abs=1e-9)


def test_a_density_is_finite_however_far_off():
    surrogate = Model(RBF(0.3), Noise(0.05), scaling=Scaling(0.0, 1e-60)).surrogate(BOX)
    new = Observation(np.array([0.5, 0.5]), 1e100, 1.0, 1)
    assert -math.inf < surrogate.weigh(new, surrogate.forecast(new.x, 1.0)).log_density < -1e300


def test_the_model_makes_it():
    model = MODELS["static"]
    surrogate = model.surrogate(BOX)
    assert isinstance(surrogate, GPSurrogate)
    assert surrogate.model is model
    assert len(surrogate.data) == 0
    assert model.noise_variance == 0.05


@pytest.mark.parametrize(
    ("dim", "few", "many"), [(1, 256, 256), (2, 96**2, 29**2), (3, 16**3, 9**3), (5, 1024, 888)]
)
def test_the_more_data_the_fewer_candidates(dim, few, many):
    box, kernel = wv.Box([(0, 1)] * dim), RBF(0.05)
    assert len(candidate_cache(box, kernel).points) == few
    assert len(candidate_cache(box, kernel, 500).points) == few
    assert len(candidate_cache(box, kernel, 3000).points) == many
    assert 64 <= len(candidate_cache(box, kernel, 10**9).points) <= 512


def test_all_of_a_small_finite_domain_are_candidates_however_many_the_data():
    assert len(candidate_cache(wv.Arms(4000), RBF(0.2), 10**6).points) == 4000


def test_fewer_candidates_are_restored_bit_for_bit(monkeypatch):
    monkeypatch.setattr(candidates, "WORK", 8e4)
    surrogate = MODELS["static"].surrogate(BOX)
    sizes = set()
    for number in range(24):
        kind = "restart" if number % 8 == 7 else "centre" if number % 5 == 4 else "append"
        surrogate = moved(surrogate, kind, 0.3)
        sizes.add(len(surrogate.posterior(1.0).candidates))
        restored = surrogate.model.restored(BOX, json.loads(json.dumps(surrogate.state())))
        assert snapshot(restored) == snapshot(surrogate)
    assert len(sizes) > 2
