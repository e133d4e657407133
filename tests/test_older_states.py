"""States of earlier versions are read: nothing is lost, and the next point is the one they would have asked for."""

import json
from pathlib import Path

import numpy as np
import pytest

import windvane as wv

STATES = Path(__file__).parent / "states"
WRITTEN = json.loads((STATES / "version_1.json").read_text())
SINCE = json.loads((STATES / "version_2.json").read_text())
ALL = [(1, which) for which in WRITTEN] + [(2, which) for which in SINCE]


@pytest.mark.parametrize(("version", "which"), ALL)
def test_a_state_of_an_earlier_version(version, which):
    written = (WRITTEN if version == 1 else SINCE)[which]
    assert written["state"]["windvane"] == version
    before = json.dumps(written["state"])
    opt = wv.restore(written["state"])
    assert json.dumps(written["state"]) == before
    assert (opt.step, opt.size) == (written["step"], written["size"])
    np.testing.assert_allclose(np.asarray(opt.ask()), written["asks"], atol=1e-6)
    assert opt.best().mean == pytest.approx(written["best"], abs=1e-6)
    twin = wv.restore(json.loads(json.dumps(opt.state(), allow_nan=False)))
    for y in (0.3, 0.5):
        x = opt.ask()
        assert opt.tell(x, y) == twin.tell(x, y)
    assert json.dumps(opt.state()) == json.dumps(twin.state())


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
