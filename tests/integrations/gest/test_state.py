"""Its state, copies and pickles; and what it says when gest-api is missing."""

import copy
import json
import math
import pickle
import sys
from typing import Any

import pandas as pd
import pytest
from gest_api.vocs import VOCS
from pydantic import TypeAdapter

import windvane as wv
from windvane.errors import CorruptState, InvalidArgument, InvalidType, MissingExtra
from windvane.integrations.gest import WindvaneGenerator

LINE = VOCS(variables={"x": [0.0, 1.0], "mode": {"a", "b"}}, objectives={"f": "MAXIMIZE"})


def hill(point):
    return {**point, "f": math.sin(4 * point["x"]) + (point["mode"] == "a")}


def used(results=7, seed=4):
    """A generator that knows some results, and waits for two more."""
    generator = WindvaneGenerator(LINE, seed=seed)
    for _ in range(results):
        generator.ingest([hill(point) for point in generator.suggest(1)])
    return generator, generator.suggest(2)


def go_on(generator, waiting):
    generator.ingest([hill(point) for point in waiting])
    found = []
    for _ in range(3):
        found += generator.suggest(2)
        generator.ingest([hill(point) for point in found[-2:]])
    return found, generator.optimizer.state()


@pytest.mark.parametrize(
    "again",
    [
        lambda generator: WindvaneGenerator.restore(LINE, json.loads(json.dumps(generator.state()))),
        lambda generator: pickle.loads(pickle.dumps(generator)),
        copy.deepcopy,
    ],
    ids=["state", "pickle", "copy"],
)
def test_it_goes_on_bit_for_bit(again):
    generator, waiting = used()
    twin = again(generator)
    assert twin.state() == generator.state()
    assert go_on(twin, waiting) == go_on(generator, waiting)


def test_a_copy_is_another():
    generator, waiting = used()
    before = generator.state()
    go_on(copy.deepcopy(generator), waiting)
    assert generator.state() == before


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda state: {}, "not that of a WindvaneGenerator"),
        (lambda state: json.dumps(state), "not that of a WindvaneGenerator"),
        (lambda state: {**state, "windvane.gest": 99}, "format 99"),
        (lambda state: {**state, "out": [[1]]}, "incomplete or altered"),
        (
            lambda state: {key: value for key, value in state.items() if key != "issued"},
            "incomplete or altered",
        ),
        (lambda state: {**state, "optimizer": {}}, "state"),
    ],
)
def test_a_state_that_was_altered_is_refused(spoil, said):
    generator, _ = used(2)
    with pytest.raises(CorruptState, match=said):
        WindvaneGenerator.restore(LINE, spoil(generator.state()))


def test_a_state_belongs_to_a_vocs():
    generator, _ = used(2)
    other = VOCS(variables={"x": [0.0, 2.0], "mode": {"a", "b"}}, objectives={"f": "MAXIMIZE"})
    with pytest.raises(InvalidArgument, match="vocs: asks to maximize over"):
        WindvaneGenerator.restore(other, generator.state())


def test_data_of_an_earlier_run_are_learned_from_whatever_their_ids():
    _, waiting = used()
    rows = [hill(point) | {"_id": 1000 + at} for at, point in enumerate(waiting)]
    fresh, twin = WindvaneGenerator(LINE, seed=1), WindvaneGenerator(LINE, seed=1)
    fresh.add_data(pd.DataFrame(rows))
    twin.ingest([{name: row[name] for name in ("x", "mode", "f")} for row in rows])
    assert fresh.state() == twin.state()
    fresh.add_data(None)
    assert fresh.state() == twin.state()


def test_of_data_that_it_knows_already_only_the_rest_is_learned():
    generator = WindvaneGenerator(LINE, seed=1)
    rows = [{"x": 0.1 * at, "mode": "a", "f": float(at)} for at in range(5)]
    generator.ingest(rows[:3])
    generator.add_data(pd.DataFrame(rows))
    assert generator.optimizer.step == 6
    with pytest.raises(InvalidArgument, match="data: 4 rows, fewer than the 5 that the generator knows"):
        generator.add_data(pd.DataFrame(rows[:4]))
    with pytest.raises(InvalidType, match="data="):
        generator.add_data([1])


def test_data_that_are_set_replace_what_it_knew():
    generator, _ = used()
    rows = [{"x": 0.1 * at, "mode": "a", "f": float(at)} for at in range(3)]
    generator.data = pd.DataFrame(rows)
    fresh = WindvaneGenerator(LINE, seed=4)
    fresh.ingest(rows)
    assert generator.optimizer.state() == fresh.optimizer.state()
    assert generator.suggest(1)[0]["_id"] == 9  # an ID means one point for good
    generator.data = pd.DataFrame()
    assert generator.optimizer.size == 0
    with pytest.raises(AttributeError, match="results are not kept"):
        _ = generator.data


class Mine:
    """A trigger that is no component, and so cannot be written."""

    def start(self):
        return ()

    def test(self, memory, prediction, y, elapsed):
        return wv.Verdict(False, 0.0, 1.0), ()


def test_what_a_file_of_pydantic_holds_makes_the_same_generator():
    made = WindvaneGenerator(LINE, "et-gp-ucb", seed=3, kernel=wv.RBF(0.2), delta=0.05)
    written = TypeAdapter(Any).dump_python(made)
    again = WindvaneGenerator.model_validate({"name": "windvane", **written})
    assert again.state() == made.state()
    assert again.vocs == made.vocs
    assert WindvaneGenerator.model_validate({"vocs": written["vocs"]}).optimizer.composition.name == "auto"


def test_a_part_that_cannot_be_written_does_not_end_the_run():
    made = WindvaneGenerator(LINE, "et-gp-ucb", seed=3, trigger=Mine())
    written = TypeAdapter(Any).dump_python(made)
    assert written["algorithm"] == "et-gp-ucb"
    assert "not written" in written["options"]
    with pytest.raises(InvalidArgument, match="generator: options="):
        WindvaneGenerator.model_validate(written)


@pytest.mark.parametrize("written", [None, {}, {"vocs": {}, "algorthm": "auto"}, {"vocs": {}, "contexts": 3}])
def test_a_file_that_was_altered_is_refused(written):
    with pytest.raises(InvalidArgument, match="generator"):
        WindvaneGenerator.model_validate(written)


def test_without_gest_api_the_extra_is_named(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("windvane.integrations.gest")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gest_api", None)
    with pytest.raises(MissingExtra, match=r"pip install 'windvane\[gest\]'"):
        __import__("windvane.integrations.gest")
