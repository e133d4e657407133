"""Optimizer + task -> trace: regret, noise, and what is handed on."""

import math

import numpy as np
import pytest

import windvane as wv


def made(task, name="et-gp-ucb", seed=0, **options):
    return wv.make(
        name, task.space, kernel=task.kernel, noise_variance=task.noise_variance, seed=seed, **options
    )


@pytest.fixture
def task():
    return wv.task("within-model", rate=0.05, horizon=40, seed=3, grid=50)


def test_a_trace_is_what_happened(task):
    trace = wv.simulate(made(task), task, seed=1)
    assert len(trace) == len(trace.events) == 40
    assert [event.step for event in trace.events] == list(range(1, 41))
    for t, event in enumerate(trace.events, start=1):
        assert trace.regret[t - 1] == pytest.approx(task.optimum(t) - task.value(event.x, t), abs=1e-12)
    assert (trace.regret >= -1e-9).all()
    assert trace.resets.tolist() == [event.step for event in trace.events if event.reset]
    np.testing.assert_allclose(trace.cumulative, np.cumsum(trace.regret))
    assert trace.average == pytest.approx(trace.regret.sum() / 40)


def test_it_is_the_loop_that_anyone_would_write(task):
    trace = wv.simulate(made(task), task, seed=1)
    opt = made(task)
    for event in trace.events:
        x = opt.ask()
        assert np.array_equal(x, event.x)
        assert opt.tell(x, event.y).as_dict() == event.as_dict()


def test_the_seed_draws_the_noise_and_nothing_else(task):
    one, same, other = (wv.simulate(made(task), task, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(one.regret, same.regret)
    assert one.events[0].x.tolist() == other.events[0].x.tolist()
    assert one.events[0].y != other.events[0].y

    def noise(trace):
        return np.array([event.y - task.value(event.x, t) for t, event in enumerate(trace.events, start=1)])

    rival = wv.simulate(made(task, "random"), task, seed=1)
    np.testing.assert_allclose(noise(rival), noise(one), atol=1e-12)  # rivals meet the same noise
    assert np.std(noise(one)) == pytest.approx(math.sqrt(task.noise_variance), rel=0.4)


def test_fewer_steps_are_the_beginning_of_more(task):
    short, full = wv.simulate(made(task), task, steps=7), wv.simulate(made(task), task)
    assert len(short) == 7
    assert np.array_equal(short.regret, full.regret[:7])


def test_every_event_is_announced(task):
    seen = []
    trace = wv.simulate(made(task), task, steps=5, on_step=seen.append)
    assert tuple(seen) == trace.events


def test_an_optimiser_beats_chance(task):
    random = np.mean([wv.simulate(made(task, "random", seed=s), task, seed=s).average for s in range(3)])
    guided = np.mean(
        [wv.simulate(made(task, "tv-gp-ucb", seed=s, rate=0.05), task, seed=s).average for s in range(3)]
    )
    assert guided < 0.75 * random


class Bandit:
    """A task of one's own: arms, no kernel, a different arm is best in the second half."""

    name, space, kernel, noise_variance, horizon = "bandit", wv.Arms(3), None, 0.01, 60

    def value(self, x, t):
        return float(x == (0 if t <= 30 else 2))

    def optimum(self, t):
        return 1.0


def test_a_task_of_ones_own():
    task = Bandit()
    opt = wv.make("et-gp-ucb", task.space, kernel=wv.Empirical(np.eye(3)), noise_variance=0.01, seed=0)
    trace = wv.simulate(opt, task, seed=0)
    assert trace.regret[20:30].sum() == 0.0
    assert trace.resets.size >= 1
    assert 31 <= trace.resets[0] <= 33
    assert trace.regret[45:].mean() < 0.4


class Stubborn:
    """An optimiser of one's own, with nothing but ask and tell."""

    def __init__(self, x):
        self.x, self.told = x, []

    def ask(self):
        return self.x

    def tell(self, x, y):
        self.told.append((x, y))


def test_an_optimiser_of_ones_own(task):
    seen, opt = [], Stubborn([0.25, 0.5])
    trace = wv.simulate(opt, task, seed=1, on_step=seen.append)
    assert len(trace) == len(opt.told) == 40
    assert trace.events == ()
    assert seen == []
    assert trace.resets.tolist() == []
    noise = math.sqrt(task.noise_variance) * np.random.default_rng((1, 2)).standard_normal(40)
    for t, (x, y) in enumerate(opt.told, start=1):
        assert x is opt.x
        assert type(y) is float
        assert y == task.value(x, t) + noise[t - 1]
        assert trace.regret[t - 1] == task.optimum(t) - task.value(x, t)
    assert trace.average == pytest.approx(trace.regret.mean())


class Wrapped:
    """One of ours inside one's own."""

    def __init__(self, inner):
        self.inner = inner

    def ask(self):
        return self.inner.ask()

    def tell(self, x, y):
        return self.inner.tell(x, y)


def test_events_that_are_told_are_kept(task):
    seen = []
    theirs = wv.simulate(Wrapped(made(task)), task, seed=1, on_step=seen.append)
    ours = wv.simulate(made(task), task, seed=1)
    assert np.array_equal(theirs.regret, ours.regret)
    assert tuple(seen) == theirs.events
    assert theirs.resets.tolist() == ours.resets.tolist()


def test_points_that_are_not_in_the_space_are_refused(task):
    for x in ([0.5], [0.5, 1.5], None, "ab", [0.5, math.nan]):
        with pytest.raises(wv.WindvaneError, match=r"^x"):
            wv.simulate(Stubborn(x), task)


def test_what_can_neither_be_asked_nor_told(task):
    class Mute:
        def ask(self):
            return [0.5, 0.5]

    class Deaf:
        def tell(self, x, y):
            pass

    for optimizer in (Mute(), Deaf(), Stubborn, wv.Optimizer, None, 5, "gp-ucb", task):
        with pytest.raises(
            wv.InvalidType, match=r"^optimizer=.*must come from wv\.make, or have ask\(\) and tell"
        ):
            wv.simulate(optimizer, task)


class Struck(Bandit):
    """Every third observation is off by 100, and the others are not."""

    def disturbance(self, t):
        return 100.0 if t % 3 == 0 else 0.0


def test_disturbances_are_observed_and_not_regretted():
    plain, struck = Stubborn(0), Stubborn(0)
    one, two = wv.simulate(plain, Bandit(), seed=4), wv.simulate(struck, Struck(), seed=4)
    assert np.array_equal(one.regret, two.regret)
    for t, ((_, y), (_, z)) in enumerate(zip(plain.told, struck.told, strict=True), start=1):
        assert z == (y + 100.0 if t % 3 == 0 else y)


class Uneven(Bandit):
    """Noise of its own making: twice as strong from step 11 on."""

    def noise_from(self, normal, t):
        return normal * (1.0 if t <= 10 else 2.0)


def test_a_task_may_make_its_noise_from_the_draws():
    opt = Stubborn(1)
    wv.simulate(opt, Uneven(), seed=4)
    normal = np.random.default_rng((4, 2)).standard_normal(60)
    normal[10:] *= 2.0
    np.testing.assert_array_equal([y for _, y in opt.told], normal)
