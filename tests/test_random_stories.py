"""`auto` in random combinations of spaces, options, worlds, clocks and operations, legal ones and mistakes.

A story is drawn from its seed. Whatever happens in it: an answer is finite and within the space, asking twice
gives the same and changes nothing, a mistake is named and changes nothing, and a copy that was made on the way,
from the state, by a pickle or in memory, answers to the same with the same, bit for bit.
"""

import copy
import json
import math
import pickle
import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import windvane as wv

STORIES = 30
SPACES = {
    "line": lambda rng: wv.Box([(0, 1)]),
    "tiny and huge": lambda rng: wv.Box([(1e-12, 2e-12), (-1e100, 1e100)]),
    "many": lambda rng: wv.Box([(0, 1)] * 8),
    "arms": lambda rng: wv.Arms(int(rng.choice([1, 2, 12]))),
    "rows": lambda rng: wv.Candidates(rng.random((int(rng.choice([1, 5, 40])), 2))),
    "named rows": lambda rng: wv.Candidates({"gain": [1, 2, 3, 4], "mode": ["a", "b", "a", "b"]}),
    "mixed": lambda rng: wv.Space(a=wv.Real(0.1, 10, log=True), n=wv.Integer(1, 8), m=wv.Choice(["a", "b"])),
    "six settings": lambda rng: wv.Space(n=wv.Integer(1, 3), m=wv.Choice(["a", "b"])),
    "one setting": lambda rng: wv.Space(m=wv.Choice(["only"])),
    "long integers": lambda rng: wv.Space(n=wv.Integer(0, 10**9), r=wv.Real(0, 1, step=0.25)),
    "context": lambda rng: wv.Space(a=wv.Real(0, 1), load=wv.Context(0, 100)),
    "choices in context": lambda rng: wv.Space(m=wv.Choice(["a", "b", "c"]), w=wv.Context(wv.Integer(0, 5))),
}
TRIGGERS = [
    wv.BelievedChange(0.6), wv.BoundedNoise(0.5), wv.Confirmed(wv.PosteriorBound()), wv.EDetector(), wv.Likelihood(),
    wv.ExactBound(0.05), wv.Never(), wv.NoImprovement(5), wv.Periodic(7), wv.PosteriorBound(),
]  # fmt: skip
ACQUISITIONS = [wv.LogEI(), wv.Thompson(), wv.Uniform(), wv.UCB(wv.ConstantBeta(0.0))]
OPTIONS = {
    "trigger": TRIGGERS,
    "acquisition": ACQUISITIONS,
    "noise_variance": [1e-6, 0.02, 1.0],
    "scaling": [wv.Scaling(0.0, 1.0)],
    "period": [1e-3, 7.5, 1e6],
    "max_points": [1, 2, 5, 20],
    "goal": ["minimize", "minimise"],
    "reset_window": [(1, 5), (3, None)],
    "forced": ["empty"],
    "hazard": [0.0, 0.5],
    "outliers": [0.0, 0.5],
    "initial": [0, 20],
    "hypotheses": [list(wv.HYPOTHESES[:1]), [wv.Hypothesis("mine", wv.Markov(0.1), weight=0.3)]],
    "max_step": [0.05, 0.3],
    "move_cost": [0.01, 1.0],
}
START = datetime(2026, 3, 1, tzinfo=UTC)
CLOCKS = {
    "steps": lambda step: None,
    "dates": lambda step: START + timedelta(minutes=10 * step),
    "huge": lambda step: 1e15 + 1e9 * step,
    "tiny": lambda step: 1e-9 * step,
    "equal": lambda step: float(step // 4),
    "irregular": lambda step: float(step * step // 3),
    "numbers of all kinds": lambda step: [int, float, np.int64, np.float32][step % 4](step),
}
WORLDS = {
    "hill": lambda f, step, rng: f + 0.05 * rng.normal(),
    "huge": lambda f, step, rng: 1e90 * f,
    "tiny": lambda f, step, rng: 1e-300 * f,
    "constant": lambda f, step, rng: 7.0,
    "integers": lambda f, step, rng: int(10 * f),
    "alternating": lambda f, step, rng: f + (1e6 if step % 2 else -1e6),
    "outliers": lambda f, step, rng: f + (50.0 if step % 9 == 0 else 0.0),
    "a jump": lambda f, step, rng: f + (5.0 if step > 12 else 0.0),
    "heavy tails": lambda f, step, rng: float(rng.standard_cauchy()),
    "repeats": lambda f, step, rng: [f, f + 0.1] if step % 2 else np.float32(f),
}
MISTAKES = [
    *(lambda opt, x, y=y: opt.tell(x, y) for y in (math.nan, 1e300, "1", None, [], [1, math.nan], True, 1j, {})),
    *(lambda opt, x, t=t: opt.tell(x, 1.0, time=t) for t in ("x", math.nan, datetime(2026, 1, 1), np.inf)),
    lambda opt, x: opt.tell("q", 1.0),
    lambda opt, x: opt.tell(None, 1.0),
    lambda opt, x: opt.tell(x, 1.0, noise_variance=-1.0),
    lambda opt, x: opt.tell(x, 1.0, nope=3.0),
    lambda opt, x: opt.fail(None),
    lambda opt, x: opt.reset(3),
    lambda opt, x: opt.ask(count=0),
    lambda opt, x: opt.ask(pending=[None]),
    lambda opt, x: opt.ask(context={"none": 1}),
    lambda opt, x: opt.ask(available=[]),
    lambda opt, x: opt.predict([]),
]  # fmt: skip
NAMED = re.compile(r"^[\w()\[\]' .]+(=|:)")
COPIES = [
    lambda opt: wv.restore(json.loads(exact(opt))),
    lambda opt: pickle.loads(pickle.dumps(opt)),
    copy.deepcopy,
    lambda opt: opt.copy(),
]


def exact(opt):
    return json.dumps(opt.state(), sort_keys=True, allow_nan=False)


def plain(x):
    return json.dumps(x, default=np.ndarray.tolist)


class Story:
    """An optimiser, perhaps a copy of it, and what may be done with the two."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.space = self.one(SPACES)(self.rng)
        self.clock, self.world = self.one(CLOCKS), self.one(WORLDS)
        self.step, self.told, self.twin = 0, [], None
        options = {name: self.one(values) for name, values in OPTIONS.items() if self.rng.random() < 0.15}
        if not any(self.space.free | self.space.fine) or isinstance(self.space, wv.Arms):
            options = {k: v for k, v in options.items() if k not in ("max_step", "move_cost")}
        if self.rng.random() < 0.25:
            options["constraints"] = {"heat": wv.AtMost(0.5), "purity": wv.AtLeast(-0.5)}
            if self.rng.random() < 0.5:
                safe = self.settings(1)[0]
                start = (
                    safe if not self.space.contexts else {k: v for k, v in safe.items() if k in ("a", "m")}
                )
                options |= {"safe": 0.9, "start": [start]}
        self.free = not {"safe", "max_step"} & options.keys()
        self.opt = wv.make(self.space, seed=seed, **options)

    def one(self, values):
        values = list(values.values()) if isinstance(values, dict) else values
        return values[int(self.rng.integers(len(values)))]

    def settings(self, count):
        return [self.space.decode(row) for row in self.space.sample(self.rng, count)]

    def seen(self):
        if not self.space.contexts:
            return {}
        drawn = self.settings(1)[0]
        return {"context": {name: drawn[name] for name in self.space.contexts}}

    def both(self, call):
        """What the optimiser answers; its copy does the same."""
        found = call(self.opt)
        assert self.twin is None or plain(call(self.twin)) == plain(found)
        return found

    def tell(self, x):
        self.step += 1
        unit = self.space.encode(x)
        y = self.world(-float(((unit - 0.4) ** 2).sum()), self.step, self.rng)
        heat = float(unit[0]) - 0.3 if len(unit) else 0.2
        measured = {name: heat for name in self.opt.constraints if self.rng.random() < 0.9}
        event = self.opt.tell(x, y, time=self.clock(self.step), **measured)
        if self.twin is not None:
            assert self.twin.tell(x, y, time=self.clock(self.step), **measured) == event
        self.told.append(x)
        numbers = (event.mean, event.std, event.noise_variance, event.log_density)
        assert all(map(math.isfinite, numbers)), event
        assert event.std >= 0.0
        assert event.step == self.step
        assert bool(event.reason) or not event.reset
        assert not event.beliefs or sum(event.beliefs.values()) == pytest.approx(1.0)

    # -- what may happen ---------------------------------------------------------------------------------

    def ask_and_tell(self):
        seen = self.seen()
        x = self.both(lambda opt: opt.ask(**seen))
        assert plain(self.opt.ask(**seen)) == plain(x)
        self.tell(x)

    def tell_of_another(self):
        self.tell(self.one(self.told) if self.told and self.rng.random() < 0.5 else self.settings(1)[0])

    def fail(self):
        seen = self.seen()
        failure = self.opt.fail(self.opt.ask(**seen), reason="pump off")
        assert 0.0 <= failure.probability <= 1.0
        if self.twin is not None:
            assert self.twin.fail(self.twin.ask(**seen), reason="pump off") == failure

    def reset(self):
        event = self.opt.reset("new pump")
        assert self.twin is None or self.twin.reset("new pump") == event

    def ask_for_several(self):
        count, seen = int(self.rng.integers(2, 6)), self.seen()
        points = self.both(lambda opt: opt.ask(count=count, **seen))
        others = self.space.settings(count)
        if self.free:
            assert len(set(map(plain, points))) == (count if others is None else min(count, len(others)))

    def ask_beside_others_and_for_later(self):
        out, seen = self.settings(2), self.seen()
        self.space.encode(self.both(lambda opt: opt.ask(pending=out, **seen)))
        for gap in (0.0, 0.5, 1e9):
            later = (self.opt.last_time or 0.0) + gap
            self.space.encode(self.both(lambda opt, at=later: opt.ask(time=at, **seen)))

    def look(self):
        points, seen = self.settings(4), self.seen()
        mean, std = self.both(lambda opt: opt.predict(points))
        assert np.isfinite([mean, std]).all()
        assert (std >= 0.0).all()
        for share in self.opt.feasibility(points).values():
            assert ((share >= 0.0) & (share <= 1.0)).all()
        if self.told:
            best = self.opt.best(**seen)
            self.space.encode(best.x)
            assert math.isfinite(best.mean + best.std)
            assert self.twin is None or self.twin.best(**seen) == best

    def mistake(self):
        x = self.settings(1)[0]
        for call in (self.one(MISTAKES), self.one(MISTAKES)):
            with pytest.raises(wv.WindvaneError) as caught:
                call(self.opt, x)
            assert NAMED.match(str(caught.value)), caught.value

    def copied(self):
        self.twin = self.one(COPIES)(self.opt)


CHANGING = (Story.ask_and_tell, Story.tell_of_another, Story.fail, Story.reset)
LOOKING = (
    Story.ask_for_several,
    Story.ask_beside_others_and_for_later,
    Story.look,
    Story.mistake,
    Story.copied,
)


@pytest.mark.parametrize("seed", range(STORIES))
def test_a_random_story(seed):
    story = Story(seed)
    for _ in range(int(story.rng.integers(8, 30))):
        before = exact(story.opt)
        act = story.one((Story.ask_and_tell,) * 7 + CHANGING + LOOKING)
        act(story)
        assert act in CHANGING or exact(story.opt) == before
        assert story.twin is None or exact(story.twin) == exact(story.opt)
