"""Fresh starts: weights and evidence against Bayes' rule with dense solves, observation by observation."""

import math

import numpy as np
import pytest
from scipy import stats

import windvane as wv
from windvane.data import Dataset
from windvane.kernels import RBF, Markov, Static
from windvane.surrogates import Hypothesis, Mixture
from windvane.surrogates.mixture import starts
from windvane.surrogates.mixture.outliers import NoiseEstimate
from windvane.surrogates.mixture.tuning import SELDOM

HYPOTHESES = (Hypothesis("static", Static(), 3.0), Hypothesis("drift", Markov(0.1), 1.0))
NOISE = 0.02


def world(n=24, jump=14, seed=0):
    """Values on a line that jump to another function at a step."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    steps = np.arange(1, n + 1)
    y = np.where(steps < jump, np.sin(6.0 * X[:, 0]), 1.5 * np.cos(9.0 * X[:, 0]))
    return Dataset(X, y + 0.1 * rng.standard_normal(n), steps.astype(float), steps)


def log_densities(model, data, temporal, first, level):
    """ln p(y_i | y_first .. y_i-1), by a dense solve for each."""
    found = np.full(len(data), -np.inf)
    for i in range(first, len(data)):
        rows = np.arange(first, i + 1)
        K = model.kernel.matrix(data.X[rows], data.X[rows]) * temporal.matrix(
            data.times[rows], data.times[rows]
        )
        K = K + level + NOISE * np.eye(len(rows))
        k, known = K[-1, :-1], K[:-1, :-1]
        w = np.linalg.solve(known, k) if len(k) else k
        residual, spread = data.y[i] - w @ data.y[rows[:-1]], K[-1, -1] - w @ k
        extra = max(model.outlier_size, residual**2)
        usual, wide = (stats.norm.pdf(residual, scale=math.sqrt(v)) for v in (spread, spread + extra))
        found[i] = math.log((1.0 - model.outliers) * usual + model.outliers * wide)
    return found


@pytest.mark.parametrize("lift", [0.0, 16.0])
def test_weights_and_evidence_of_permanent_hypotheses_and_changes(lift):
    model, data = Mixture(RBF(0.3), NOISE, hypotheses=HYPOTHESES, hazard=0.01, share=0.002), world()
    noise = NoiseEstimate.about(NOISE, 3.0)
    members = [
        *starts.permanent(model, noise),
        starts.run(model, noise, 9, 10),
        starts.run(model, noise, 13, 14, lift),
    ]
    starts.quieten(model, data, members)
    starts.factor(model, data, members)
    found = starts.weigh(model, data, members)

    columns = [
        log_densities(model, data, Static(), 0, 0.0),
        log_densities(model, data, Markov(0.1), 0, 0.0),
        log_densities(model, data, Static(), 9, 0.0),
        log_densities(model, data, Static(), 13, lift),
    ]
    weights, total = np.array([0.75, 0.25, 0.0, 0.0]), 0.0
    for i in range(len(data)):
        for number, birth, chance in ((2, 9, 0.01), (3, 13, 0.01 * (SELDOM if lift else 1.0))):
            if i == birth:
                weights *= 1.0 - chance
                weights[number] = chance
        joint = weights * np.exp([column[i] for column in columns])
        total += math.log(joint.sum())
        weights = (1.0 - 0.002) * joint / joint.sum() + 0.002 * np.array([0.75, 0.25, 0.0, 0.0])
    assert np.allclose(found.weights, weights, rtol=1e-8)
    assert found.log_density == pytest.approx(total, rel=1e-10)
    assert found.weights[3] > 0.5  # the true change, whichever way it is described


def test_nothing_seen_is_what_was_believed_before():
    model = Mixture(RBF(0.3), NOISE, hypotheses=HYPOTHESES)
    members = starts.permanent(model, NoiseEstimate.about(NOISE, 3.0))
    data = Dataset.empty(1)
    starts.quieten(model, data, members)
    starts.factor(model, data, members)
    assert starts.weigh(model, data, members).weights.tolist() == model.prior.tolist()


@pytest.mark.parametrize(("points", "scale"), [(2, 0.0), (2, 1.0), (3, 1.0)])
def test_changes_that_all_began_before_the_oldest_observation_leave_no_negative_weight(points, scale):
    rng = np.random.default_rng(1)
    opt = wv.make(wv.Box([(0, 1)]), seed=0, hazard=0.5, max_points=points)
    for _ in range(40):
        event = opt.tell(opt.ask(), 7.0 + scale * rng.normal())
        assert min(event.beliefs.values()) >= 0.0
        assert sum(event.beliefs.values()) == pytest.approx(1.0)
