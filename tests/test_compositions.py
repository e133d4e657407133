"""What `make` composes from which options stays what it was: states and published figures depend on it.

Each line of compositions.json is an algorithm, a space, options, and the composition that they gave
before options were read from signatures; fields at their defaults are left out.
"""

import json
from pathlib import Path

import pytest

import windvane as wv
from windvane.algorithms import ALGORITHMS
from windvane.codec import decode

LATER = {"acquisition", "max_step", "move_cost", "constraints", "safe", "start"}  # options that came later
CASES = json.loads(Path(__file__).with_name("compositions.json").read_text(encoding="utf-8"))
SPACES = {
    "box": wv.Box([(0.0, 1.0), (-5.0, 5.0)]),
    "arms": wv.Arms(2),
    "space": wv.Space(
        gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 4), mode=wv.Choice(["a", "b", "c"])
    ),
}


@pytest.mark.parametrize("name", wv.algorithms())
def test_compositions_are_as_they_were(name):
    cases = [case[1:] for case in CASES if case[0] == name]
    assert cases
    for space, options, parts in cases:
        given = {option: decode(value) for option, value in options.items()}
        found = wv.make(name, SPACES[space], seed=0, **given).composition
        expected = decode({"type": "Composition", **parts})
        assert found == expected, (space, options)


def test_every_option_is_among_them():
    tried = {option for _, _, options, _ in CASES for option in options} | LATER
    assert {option for entry in ALGORITHMS.values() for option in entry.options} <= tried
