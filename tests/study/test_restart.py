"""A study that is closed and opened again at any record goes on, bit for bit, as a plain optimiser that never stopped.

The twin knows nothing of databases: an optimiser from `windvane.make`, and a few lines that keep book of trials.
"""

from itertools import count
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.errors import Conflict, UnknownName
from windvane.storage import Database
from windvane.study import Study, live

SPACES = {
    "box": (wv.Box([(-1.0, 1.0), (0.0, 5.0)]), {"kernel": wv.RBF([0.2, 0.4]), "noise_variance": 0.02}),
    "arms": (wv.Arms(5), {"kernel": wv.Empirical(np.eye(5) + 0.3), "noise_variance": 0.05}),
    "space": (
        wv.Space(gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", "b"])),
        {"kernel": wv.Matern52(0.4), "noise_variance": 0.02},
    ),
}
NUMBERS = count(1)
VALUES = st.floats(-3.0, 3.0) | st.sampled_from([0.0, -0.0, 5e-324, 50.0])
TIMES = st.none() | st.floats(0.0, 60.0)
STEPS = st.one_of(
    st.tuples(st.just("ask"), TIMES, st.sampled_from([None, 5.0, 20.0])),
    st.tuples(st.just("tell"), st.integers(1, 12), VALUES, TIMES),
    st.tuples(st.just("tell"), st.integers(-4, -1), VALUES, TIMES),  # one of the newest
    st.tuples(st.just("add"), st.integers(0, 7), VALUES, TIMES),
    st.tuples(st.just("fail"), st.integers(-3, 12)),
    st.tuples(st.just("wait"), st.floats(0.5, 15.0)),
    st.tuples(st.just("look")),
    st.tuples(st.just("reopen")),
)


def plain(x):
    if isinstance(x, dict):
        return {name: plain(value) for name, value in x.items()}
    return x.tolist() if hasattr(x, "tolist") else x


class Twin:
    """What a study should do, in memory."""

    def __init__(self, algorithm, space, options):
        self.opt = wv.make(algorithm, space, seed=4, **options)
        self.points, self.until, self.over, self.gone = [], {}, set(), set()

    def model_time(self, time):
        return time if None in (time, self.opt.last_time) else max(time, self.opt.last_time)

    def expire(self, now, but=None):
        late = {
            n for n, t in self.until.items() if t is not None and t <= now and n not in self.over and n != but
        }
        self.gone |= late - {but}

    def waiting(self):
        return [n for n in self.until if n not in self.over and n not in self.gone]

    def ask(self, time, patience, now):
        self.expire(now)
        x = plain(
            self.opt.ask(time=self.model_time(time), pending=[self.points[n - 1] for n in self.waiting()])
        )
        self.points.append(x)
        self.until[len(self.points)] = None if patience is None else now + patience
        return x

    def tell(self, x, y, time):
        event = self.opt.tell(x, y + 0.0, self.model_time(time)).as_dict()
        return {**event, "x": plain(event["x"])}


class Pair:
    """A study and its twin, taken through the same steps."""

    def __init__(self, database, algorithm, where):
        space, options = SPACES[where]
        self.database, self.name, self.now = database, f"s{next(NUMBERS)}", 1000.0
        self.twin = Twin(algorithm, space, options)
        self.places = [plain(space.decode(unit)) for unit in space.sample(np.random.default_rng(0), 8)]
        self.study = Study.create(database, self.name, space, algorithm, seed=4, clock=self.clock, **options)

    def clock(self):
        return self.now

    def number(self, wanted):
        return wanted if wanted > 0 else max(1, len(self.twin.points) + 1 + wanted)

    def refused(self, number, call):
        """Trials that are not there, or answered."""
        if number in self.twin.over:
            error = Conflict
        elif number > len(self.twin.points):
            error = UnknownName
        else:
            return False
        with pytest.raises(error):
            call()
        return True

    def ask(self, time, patience):
        wanted = self.twin.ask(time, patience, self.now)
        assert self.study.ask(time, expires_after=patience).x == wanted

    def tell(self, wanted, y, time):
        number = self.number(wanted)
        if not self.refused(number, lambda: self.study.tell(number, y, time)):
            self.twin.expire(self.now, but=number)
            self.twin.over.add(number)
            event = self.twin.tell(self.twin.points[number - 1], y, time)
            assert self.study.submit_tell(number, y, time).event == event

    def add(self, place, y, time):
        self.twin.expire(self.now)
        event = self.twin.tell(self.places[place], y, time)
        assert self.study.submit_add(self.places[place], y, time).event == event

    def fail(self, wanted):
        number = self.number(wanted)
        if not self.refused(number, lambda: self.study.fail(number)):
            self.twin.expire(self.now, but=number)
            self.twin.over.add(number)
            self.twin.opt.fail(self.twin.points[number - 1], reason="why not")
            self.study.fail(number, "why not")

    def wait(self, seconds):
        self.now += seconds

    def look(self):
        """Looking changes nothing."""
        late = {n for n, t in self.twin.until.items() if t is not None and t <= self.now}
        assert [trial.number for trial in self.study.pending()] == [
            n for n in self.twin.waiting() if n not in late
        ]
        self.study.predict(self.places[:2])
        if self.twin.opt.step > 1:
            assert plain(self.study.best().x) == plain(self.twin.opt.best().x)

    def reopen(self):
        self.study = Study.open(self.database, self.name, clock=self.clock)

    def end(self):
        """The same state, whether it was opened this moment or has been open; and the same next point."""
        again = Study.open(self.database, self.name, clock=self.clock)
        for study in (self.study, again):
            assert study.optimizer.state() == self.twin.opt.state()
        self.study = again
        self.ask(None, None)


def through(database, algorithm, where, steps):
    with mock.patch.object(live, "SPARSE", 4), mock.patch.object(live, "MANY", 9):
        pair = Pair(database, algorithm, where)
        for verb, *rest in steps:
            getattr(pair, verb)(*rest)
        pair.end()


def hypothesised(examples, longest):
    kinds = (st.sampled_from(["et-gp-ucb", "auto"]), st.sampled_from(sorted(SPACES)))
    quiet = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
    phases = [Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink]

    def decorate(test):
        test = given(*kinds, st.lists(STEPS, min_size=longest // 2, max_size=longest))(test)
        return settings(max_examples=examples, deadline=None, suppress_health_check=quiet, phases=phases)(
            test
        )

    return decorate


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory):
    with Database(tmp_path_factory.mktemp("restart") / "studies.db", create=True) as made:
        yield made


@hypothesised(15, 30)
def test_any_story_on_sqlite(sqlite, algorithm, where, steps):
    through(sqlite, algorithm, where, steps)


@hypothesised(4, 20)
def test_any_story_on_postgresql(postgres_url, algorithm, where, steps):
    with Database(postgres_url, create=True) as database:
        through(database, algorithm, where, steps)


@pytest.mark.parametrize("where", SPACES)
@pytest.mark.parametrize("algorithm", ["et-gp-ucb", "auto"])
def test_opened_anew_for_every_step(sqlite, algorithm, where):
    """With outliers and jumps, so that observations are set aside and there are resets."""
    values = [0.1, 0.3, 9.0, 0.2, 0.25, 8.0, 8.1, 8.2]
    steps = [("ask", None, None), ("ask", None, 5.0)]
    for n, y in enumerate(values):
        steps += [("reopen",), ("tell", -2, y, None), ("reopen",), ("ask", None, None), ("wait", 2.0)]
        steps += [("add", n % 8, y + 0.1, float(n)), ("reopen",)]
    through(sqlite, algorithm, where, steps)
