"""What changes, when and by how much, in the worlds whose functions are written down."""

import itertools
import math

import numpy as np
import pytest

import windvane as wv
from windvane.tasks.analytic import DROP, LEFT, LOST
from windvane.tasks.transformed import Shape, Transformed

SEEDS = range(12)


def test_a_transformed_shape_by_hand():
    def hill(z):
        return 5.0 - (z[..., 0] - 0.3) ** 2 - 2.0 * (z[..., 1] - 0.6) ** 2

    def cone(z):
        return 1.0 - np.abs(z[..., 0] - 0.9) - np.abs(z[..., 1] - 0.2)

    shapes = [Shape(hill, np.array([0.3, 0.6])), Shape(cone, np.array([0.9, 0.2]))]
    task = Transformed(
        "two",
        wv.Box([(0, 10), (-1, 1)]),
        shapes,
        horizon=3,
        which=np.array([0, 0, 1]),
        signs=np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]]),
        moves=np.array([[0.0, 0.0], [0.2, -0.1], [-0.1, 0.3]]),
        noise_variance=0.5,
    )
    x = [4.0, 0.5]  # (0.4, 0.75) of the ranges
    assert task.value(x, 1) == pytest.approx(5.0 - 0.1**2 - 2.0 * 0.15**2)
    assert task.value(x, 2) == pytest.approx(5.0 - (0.2 - 0.3) ** 2 - 2.0 * (0.25 + 0.1 - 0.6) ** 2)
    assert task.value(x, 3) == pytest.approx(1.0 - abs(0.6 + 0.1 - 0.9) - abs(0.75 - 0.3 - 0.2))
    np.testing.assert_allclose(task.optimum(1).x, [3.0, 0.2])
    np.testing.assert_allclose(task.optimum(2).x, [5.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(task.optimum(3).x, [2.0, 0.0], atol=1e-12)
    assert [float(task.optimum(t)) for t in (1, 2, 3)] == pytest.approx([5.0, 5.0, 1.0])
    assert (task.steps, task.noise_variance, task.kernel) == ((2, 3), 0.5, None)


@pytest.mark.parametrize("name", ["branin-walk", "levy"])
def test_the_noise_is_a_hundredth_of_the_spread(name):
    task, rng = wv.task(name, seed=1), np.random.default_rng(0)
    values = [task.value(task.space.decode(u), 1) for u in task.space.sample(rng, 4000)]
    assert math.sqrt(task.noise_variance) == pytest.approx(0.01 * np.std(values), rel=0.15)
    assert wv.task(name, noise_variance=0.3).noise_variance == 0.3


# -- moving peaks --------------------------------------------------------------------------------------


def test_peaks_move_every_so_many_steps_and_a_little():
    for seed in SEEDS:
        task = wv.task("moving-peaks", horizon=100, every=25, seed=seed)
        assert task.steps == (26, 51, 76)
        moments = [(task.optimum(t), task.optimum(t + 24)) for t in (1, 26, 51, 76)]
        assert all(first == last and (first.x == last.x).all() for first, last in moments)
        for (old, _), (new, _) in itertools.pairwise(moments):
            assert 30.0 <= new <= 70.0
            assert new != old
    assert wv.task("moving-peaks", horizon=50, every=1, seed=1).steps == tuple(range(2, 51))


def test_one_peak_moves_by_the_step():
    for seed in SEEDS:
        task = wv.task("moving-peaks", peaks=1, dim=3, every=2, step=3.0, horizon=20, seed=seed)
        places = np.array([task.optimum(t).x for t in range(1, 21, 2)])
        moved = np.linalg.norm(np.diff(places, axis=0), axis=1)
        inside = ((places > 3.0) & (places < 97.0)).all(axis=1)
        away = inside[:-1] & inside[1:]  # where no wall can have reflected it
        np.testing.assert_allclose(moved[away], 3.0, rtol=1e-9)
        assert (moved <= 3.0 + 1e-9).all()


# -- Branin --------------------------------------------------------------------------------------------


def test_branin_walks_smoothly_and_stays_inside():
    for seed in SEEDS:
        task = wv.task("branin-walk", seed=seed)
        places = np.array([task.space.encode(task.optimum(t).x) for t in range(1, 201)])
        assert ((places > 0.149) & (places < 0.851)).all()
        assert np.ptp([float(task.optimum(t)) for t in range(1, 201)]) == 0.0
        assert np.abs(np.diff(places, axis=0)).max() < 0.03
        assert np.ptp(places, axis=0).max() > 0.15
    assert float(task.optimum(1)) == pytest.approx(-10.0 / (8.0 * math.pi))


def test_branin_is_only_translated():
    task = wv.task("branin-walk", seed=2)
    by = task.optimum(120).x - task.optimum(1).x
    rng = np.random.default_rng(0)
    for _ in range(50):
        x = rng.uniform([-5.0, 0.0], [10.0, 15.0])
        if ((x + by >= [-5.0, 0.0]) & (x + by <= [10.0, 15.0])).all():
            assert task.value(x + by, 120) == pytest.approx(task.value(x, 1), rel=1e-9)


# -- Hartmann mirrored ---------------------------------------------------------------------------------


def test_mirrors_move_the_optimum_far_and_keep_its_value():
    moments = set()
    for seed in SEEDS:
        task = wv.task("hartmann3-mirrored", seed=seed)
        assert len(task.steps) == 2
        moments.add(task.steps)
        begins = [1, *task.steps]
        assert len({float(task.optimum(t)) for t in range(1, 201)}) == 1
        for before, after in itertools.pairwise(begins):
            assert (task.optimum(after - 1).x == task.optimum(before).x).all()
            move = task.optimum(after).x - task.optimum(before).x
            assert np.abs(move).max() > 0.7
            flipped = np.abs(move) > 1e-9
            rng = np.random.default_rng(seed)
            for x in rng.random((10, 3)):
                mirrored = np.where(flipped, 1.0 - x, x)
                assert task.value(mirrored, after) == pytest.approx(task.value(x, before), rel=1e-12)
    assert len(moments) > 8
    assert float(task.optimum(1)) == pytest.approx(4000.0 + 120.0 * 3.86278, abs=1e-3)
    assert wv.task("hartmann3-mirrored", count=0).steps == ()


# -- the valve -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [1, 2])
def test_the_second_day_is_like_the_first_and_not_the_same(dim):
    for seed in SEEDS:
        task = wv.task("valve", dim=dim, seed=seed)
        assert (task.horizon, task.period, task.space.dim) == (288, 96, dim)
        places = np.array([task.optimum(t).x for t in range(1, 289)])
        days = places.reshape(3, 96, dim)
        assert ((places >= 5.0) & (places <= 95.0)).all()
        assert np.ptp(days[0], axis=0).min() > 25.0
        between = np.abs(days[1] - days[0]).max()
        assert 0.3 < between < 15.0
        assert np.abs(days[1] - days[0]).mean() < 0.3 * np.abs(days[0] - days[0].mean(axis=0)).mean()
        assert np.abs(np.diff(places, axis=0)).max() < 6.0  # no jump at midnight


def test_the_day_is_not_a_plain_wave():
    """Its second harmonic has a share: a quarter to two fifths against three fifths to three quarters."""
    for seed in SEEDS:
        task = wv.task("valve", seed=seed)
        first = np.abs(np.fft.rfft([task.optimum(t).x[0] for t in range(1, 97)]))
        assert 0.25 < first[2] / first[1] < 0.8


def test_a_loss_is_lopsided_and_the_level_follows_the_day():
    task = wv.task("valve", seed=3)
    best = task.optimum(10)
    here = best.x[0]
    losses = [float(best) - task.value([here + by], 10) for by in (-20.0, 20.0)]
    assert min(losses) > 0.0
    assert max(losses) > 1.3 * min(losses)
    levels = [float(task.optimum(t)) for t in range(1, 97)]
    assert np.ptp(levels) > 200.0


# -- the plant -----------------------------------------------------------------------------------------


def test_what_breaks_is_lost_and_the_rest_is_lower():
    moments = set()
    for seed in SEEDS:
        task = wv.task("breaking-plant", seed=seed)
        (step,) = task.steps
        moments.add(step)
        before, after = task.optimum(step - 1), task.optimum(step)
        assert LOST[0] <= before <= LOST[1]
        assert LEFT[0] - DROP <= after <= LEFT[1] - DROP
        assert task.optimum(1) == before
        assert task.optimum(200) == after
        moved = task.space.encode(after.x) - task.space.encode(before.x)
        assert np.abs(moved).min() >= 0.2
        sample = task.space.sample(np.random.default_rng(seed), 300)
        places = [task.space.decode(unit) for unit in sample]
        fall = np.array([task.value(x, step - 1) - task.value(x, step) for x in places])
        assert fall.min() == pytest.approx(DROP)  # what has nothing to do with the component
        assert 0.05 < np.mean(fall > DROP + 1e-9) < 0.95  # and what was lost with it
        assert task.value(before.x, step) < before - 0.2  # who stays pays
    assert len(moments) > 8


# -- Levy ----------------------------------------------------------------------------------------------


def test_levy_stands_still_at_a_random_place():
    places = []
    for seed in SEEDS:
        task = wv.task("levy", seed=seed)
        places.append(task.optimum(1).x)
        assert float(task.optimum(1)) == float(task.optimum(200)) == 0.0
        assert task.value([1.0, 2.0, -3.0, 4.0], 1) == task.value([1.0, 2.0, -3.0, 4.0], 200) < 0.0
    assert np.ptp(places, axis=0).min() > 8.0
    assert (np.abs(places) <= 7.0).all()
