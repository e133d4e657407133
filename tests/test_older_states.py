"""States of earlier versions are read: nothing is lost, and the next point is the one they would have asked for.

Version 3 is what 0.1 writes; its states have constraints, contexts, failures, limited moves, told noise, repeats,
dates, lists of settings and resets that were asked for.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import windvane as wv
from windvane.optimizer import VERSIONS

STATES = Path(__file__).parent / "states"
WRITTEN, SINCE, LATEST = (
    json.loads((STATES / f"version_{version}.json").read_text(encoding="utf-8")) for version in (1, 2, 3)
)
BY_VERSION = {1: WRITTEN, 2: SINCE, 3: LATEST}
assert set(BY_VERSION) == set(VERSIONS)  # one that is read has states here that it wrote
ALL = [(version, which) for version, states in BY_VERSION.items() for which in states]


@pytest.mark.parametrize(("version", "which"), ALL)
def test_a_state_of_an_earlier_version(version, which):
    written = BY_VERSION[version][which]
    assert written["state"]["windvane"] == version
    before = json.dumps(written["state"])
    opt = wv.restore(written["state"])
    assert json.dumps(written["state"]) == before
    assert (opt.step, opt.size) == (written["step"], written["size"])
    given = written.get("ask", {})
    assert_near(opt.ask(**given), written["asks"])
    assert opt.best(**given).mean == pytest.approx(written["best"], abs=1e-6)
    twin = wv.restore(json.loads(json.dumps(opt.state(), allow_nan=False)))
    outcomes = dict.fromkeys(opt.constraints, 1.0)
    for y in (0.3, 0.5):
        x = opt.ask(**given)
        assert opt.tell(x, y, **outcomes) == twin.tell(x, y, **outcomes)
    assert json.dumps(opt.state()) == json.dumps(twin.state())


def assert_near(x, expected):
    if isinstance(expected, dict):
        assert set(x) == set(expected)
        for name, value in expected.items():
            assert x[name] == (pytest.approx(value, abs=1e-6) if isinstance(value, float) else value)
    else:
        np.testing.assert_allclose(np.asarray(x), expected, atol=1e-6)


def test_what_a_state_of_0_1_may_have_in_it():
    """Each has what it is named for: nothing is dropped in silence where it is read."""
    soft, safe = (wv.restore(LATEST[f"constraints, {kind}"]["state"]) for kind in ("soft", "safe"))
    assert (set(soft.constraints), soft.safe) == ({"heat"}, None)
    assert (set(safe.constraints), safe.safe) == ({"heat", "flow"}, 0.9)
    assert safe.constraints["heat"] == wv.AtMost(90, kernel=wv.RBF(0.3, 100.0), noise_variance=0.1, mean=80.0)
    assert wv.restore(LATEST["contexts"]["state"]).last_context == {"load": 90.0}
    failed = LATEST["failures"]
    ignorant = wv.restore({name: value for name, value in failed["state"].items() if name != "failures"})
    assert not np.allclose(ignorant.ask(), failed["asks"])  # one that remembers keeps away from there
    noise = wv.restore(LATEST["limited moves, told noise, repeats"]["state"])
    assert noise.data.accuracy is not None


def test_auto_of_version_1_has_its_trigger():
    opt = wv.restore(WRITTEN["auto told nothing"]["state"])
    assert opt.composition.trigger == wv.BelievedChange(0.9)
    assert opt.composition.on_trigger == wv.SinceChange()
    assert opt.composition.learning.trusted == 20


def test_an_outlier_of_version_1_is_remembered():
    """By every hypothesis that saw it: version 1 had one memory for all."""
    opt = wv.restore(WRITTEN["auto with an outlier"]["state"])
    state = opt.state()["surrogate"]["start"]["members"]
    held = [[step for step, share, _ in row[6] if share > 0.5] for row in state if not row[1]]
    base = [row[3] for row in opt.state()["surrogate"]["base"]]
    assert all(steps == ([15] if 15 in base else []) for steps in held)
