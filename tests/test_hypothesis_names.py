"""What hypotheses are called: plainly, with a unit, the same everywhere; and what a name means."""

import json
import math
from pathlib import Path

import pytest

import windvane as wv
from windvane.hypothesis_names import FORMER, present
from windvane.kernels import Markov
from windvane.older import renamed
from windvane.plots.beliefs import weights
from windvane.surrogates.mixture import LOCAL
from windvane.surrogates.mixture.seasons import recurrence

STATES = Path(__file__).parent / "states"
OURS = (*wv.HYPOTHESES, *LOCAL, *(recurrence(48.4, swings, 0.1) for swings in (False, True)))


def drifting(kernel):
    """The rates in a kernel."""
    if isinstance(kernel, Markov):
        return [kernel.rate]
    return [rate for part in vars(kernel).values() if hasattr(part, "correlation") or hasattr(part, "decay")
            for rate in drifting(part)]  # fmt: skip


@pytest.mark.parametrize("name", [one.label for one in OURS])
def test_a_name_says_what_it_means(name):
    """No bare number: a rate is in per cent per step, a length in steps; and there is a sentence."""
    assert name == "static" or "% per step" in name or name.endswith(" steps")
    meaning = wv.describe_hypothesis(name)
    assert meaning
    assert name not in meaning


@pytest.mark.parametrize("one", [one for one in OURS if "%" in one.label], ids=lambda one: one.label)
def test_the_rate_in_a_name_is_that_of_the_kernel(one):
    kernel = one.alone or one.level or one.temporal
    (rate,) = drifting(kernel)
    said = one.label.split(" %")[0].split()[-1]
    assert float(said) == pytest.approx(100.0 * rate)
    assert f"{said} % of the variance per step" in wv.describe_hypothesis(one.label)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("static", "nothing changes"),
        ("drifts 3 % per step", "drifts slowly: 3 % of the variance per step"),
        ("drifts 30 % per step", "half of it new after 2 steps"),
        ("3 times as large, drifts 1 % per step", "varies 3 times as much as its scale says"),
        ("changed at step 81", "all is new since step 81"),
        ("level moved at step 81", "higher or lower by the same amount"),
        ("season of 1e+03 steps", "comes back every 1e+03 steps"),
        ("larger, drift 0.01", "varies 3 times as much"),  # as an old record has it
        ("changed at 81", "since step 81"),
    ],
)
def test_what_a_name_means(name, words):
    assert words in wv.describe_hypothesis(name)


def test_a_name_of_ones_own_has_no_meaning_here():
    assert wv.describe_hypothesis("daily") == ""
    assert present("daily") == "daily"


def test_events_have_these_names():
    """Also of a change: its step is said to be one."""
    task = wv.task("jumps", horizon=40, seed=0)
    trace = wv.simulate(wv.make(task.space, seed=0), task, seed=0)
    names = {name for event in trace.events for name in event.beliefs}
    assert {one.label for one in wv.HYPOTHESES} <= names
    assert any(name.startswith("changed at step ") for name in names)
    assert all(wv.describe_hypothesis(name) for name in names)
    assert not names & set(FORMER)


def test_an_event_of_then_is_read_with_the_names_of_now():
    event = wv.make(wv.Box([(0, 1)]), seed=0).tell([0.5], 1.0)
    former = {**event.as_dict(), "beliefs": {"drift 0.03": 0.5, "changed at 3": 0.3, "mine": 0.2}}
    now = {"drifts 3 % per step": 0.5, "changed at step 3": 0.3, "mine": 0.2}
    assert wv.Event.from_dict(former).beliefs == now
    assert wv.Event.from_dict(event.as_dict()) == event


def test_a_state_of_then_goes_on_with_the_names_of_now():
    written = json.loads((STATES / "version_2.json").read_text())["auto told nothing"]["state"]
    assert '"half drifts 0.03"' in json.dumps(written)
    event = wv.restore(written).tell([0.5], 0.1)
    assert "half of it drifts 3 % per step" in event.beliefs
    assert not set(event.beliefs) & set(FORMER)


def test_a_state_of_then_goes_on_bit_for_bit():
    """Also one in which a level has moved: it names the hypothesis whose level that is."""
    opt = wv.make(wv.Box([(0, 1)]), hypotheses=wv.HYPOTHESES[1:3], seed=0)
    for step in range(1, 23):
        x = (0.37 * step) % 1.0
        opt.tell([x], math.sin(5.0 * x) + 0.05 * (7 * step % 5 - 2) + (1.2 if step >= 22 else 0.0))
    text = json.dumps(opt.state())
    assert any(len(row) > 7 for row in opt.state()["surrogate"]["start"]["members"])
    for then, now in FORMER.items():
        text = text.replace(json.dumps(now), json.dumps(then))
    assert "% per step" not in text
    again = wv.restore(json.loads(text))
    for y in (3.1, 3.0, 0.2):
        assert again.tell([0.4], y) == opt.tell([0.4], y)
    assert json.dumps(again.state()) == json.dumps(opt.state())


def test_what_somebody_else_has_called_so_keeps_its_name():
    """In a state: only what has our kernels is ours. The level that moved is found again under either name."""
    mine = wv.Hypothesis("drift 0.01", wv.Markov(0.5), 0.5)
    ours = wv.Hypothesis("drift 0.03", wv.Markov(0.03), 0.5)
    state = wv.make(wv.Box([(0, 1)]), hypotheses=(mine, ours), seed=0).state()
    again = wv.restore(state)
    assert [one.label for one in again.model.hypotheses] == ["drift 0.01", "drifts 3 % per step"]
    model = state["surrogate"]["model"]
    start = {"members": [[0, 3, 1.0, 1.0, [], 0.0, [], label, 2] for label in ("drift 0.01", "drift 0.03")]}
    found = renamed({"model": model, "start": start})
    assert [row[7] for row in found["start"]["members"]] == ["drift 0.01", "drifts 3 % per step"]


def test_a_plot_puts_then_and_now_together():
    class Told:
        def __init__(self, **beliefs):
            self.beliefs = beliefs

    then = Told(**{"drift 0.01": 0.5, "level moved at 3": 0.2, "level moved at 4": 0.3})
    now = Told(**{"drifts 1 % per step": 0.6, "level moved at step 4": 0.4})
    found = {name: row.tolist() for name, row in weights([then, now]).items()}
    assert found == {"drifts 1 % per step": [0.5, 0.6], "a level that moved": [0.5, 0.4]}
