"""Whoever looks, and whenever: what is learned is the same to the last bit."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest

import windvane as wv
from windvane.study import Study
from windvane.threads import one_thread

TOLD: dict[str, Any] = {"kernel": wv.RBF(0.3), "noise_variance": 0.02, "max_points": 60}
LENGTH = 20.0  # of the season


def measured(rng: random.Random, x: float, time: float) -> float:
    """A hill that goes to and fro, so that a season is among the hypotheses."""
    centre = 0.5 + 0.3 * math.sin(2.0 * math.pi * time / LENGTH)
    return math.exp(-8.0 * (x - centre) ** 2) + rng.gauss(0.0, 0.1)


def readings(seed: int, count: int) -> list[tuple[float, float, float]]:
    """Points, values and times; every third or so comes at the moment of the one before it."""
    rng, time, found = random.Random(seed), 5.0, []
    for _ in range(count):
        time += 3.0 * rng.random() if rng.random() < 0.7 else 0.0
        x = rng.random()
        found.append((x, measured(rng, x, time), time))
    return found


@pytest.mark.parametrize("options", [TOLD, {}], ids=["told", "told nothing"])
def test_a_look_at_another_moment_leaves_the_next_event_as_it_is(options: dict[str, Any]) -> None:
    space, rng = wv.Box([(0.0, 1.0)]), random.Random(0)
    quiet, curious = (wv.make(space, seed=6, **options) for _ in range(2))
    season = False
    for x, y, time in readings(2, 75):
        curious.predict([[0.5]], time=time + 3.0 * rng.random())
        event = quiet.tell([x], y, time)
        assert curious.tell([x], y, time) == event
        season = season or any(name.startswith("season") for name in event.beliefs)
    assert season  # else this shows nothing: the state of the others has one or two numbers


def test_two_who_share_a_study_write_what_one_alone_is_told(tmp_path: Path) -> None:
    """Each follows what the other has told, without having asked; somebody looks; and they start again."""
    url, rng, space = str(tmp_path / "studies.db"), random.Random(1), wv.Box([(0.0, 1.0)])
    Study.create(url, "mill", space, "auto", seed=6, **TOLD).close()
    pair = [Study.open(url, "mill") for _ in range(2)]
    twin = wv.make("auto", space, seed=6, **TOLD)
    out: list[int] = []
    pending: dict[int, list[float]] = {}
    for x, y, time in readings(2, 80):
        if rng.random() < 0.1:
            number = rng.randrange(2)
            pair[number].close()
            pair[number] = Study.open(url, "mill")
        if len(out) < 3:
            moment = time + 2.0 * rng.random()
            trial = rng.choice(pair).ask(time=moment)
            assert trial.x == twin.ask(time=moment, pending=list(pending.values())).tolist()
            out.append(trial.number)
            pending[trial.number] = trial.x
        if rng.random() < 0.3:
            rng.choice(pair).predict([[0.3]], time=time + 1.0)
        if rng.random() < 0.5:
            number = out.pop(rng.randrange(len(out)))
            x = pending.pop(number)[0]
            y = measured(rng, x, time)
            record = rng.choice(pair).submit_tell(number, y, time=time)
        else:
            record = rng.choice(pair).submit_add([x], y, time=time)
        assert record.event == json.loads(json.dumps(twin.tell([x], y, time).as_dict()))
    for study in pair:
        study.close()


def test_a_state_is_read_with_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more, the sums of what is told again may round otherwise than they did."""
    state = wv.make(wv.Box([(0.0, 1.0)]), seed=0).state()
    held: list[bool] = []
    monkeypatch.setattr("windvane.progress.decode", lambda _: held.append(bool(one_thread._holders)))
    with pytest.raises(wv.CorruptState):
        wv.restore(state)
    assert held == [True]


def test_constraints_that_are_learned_are_followed_with_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though the objective needs to hold none, which is told all and has few observations."""
    told: dict[str, Any] = {"kernel": wv.RBF(0.3), "noise_variance": 0.02}
    opt = wv.make("et-gp-ucb", wv.Box([(0.0, 1.0)]), constraints={"heat": wv.AtMost(1)}, seed=0, **told)
    held: list[bool] = []
    outcomes_told = wv.optimizer.outcomes_told

    def watched(*given: Any) -> Any:
        held.append(bool(one_thread._holders))
        return outcomes_told(*given)

    monkeypatch.setattr("windvane.optimizer.outcomes_told", watched)
    opt.tell([0.5], 1.0, heat=0.5)
    assert held == [True]
