"""The heat map of ratios."""

import math

import numpy as np
import pytest

import windvane as wv
from windvane import plots
from windvane.plots.leaderboard import ratios

RESULTS = {
    "poor": {"one": 4.0, "two": [6.0, 9.0, 30.0]},
    "best": {"one": [1.0, 2.0, 3.0], "two": 3.0},
    "odd": {"one": 2.0, "three": 1.0},
}


def test_ratios_of_medians():
    found = ratios(RESULTS)
    assert found.tasks == ["one", "two", "three"]
    assert found.algorithms == ["best", "odd", "poor"]  # worst 1, 1 and 3
    np.testing.assert_array_equal(found.values, [[1, 1, 2], [1, math.nan, 3], [math.nan, 1, math.nan]])
    np.testing.assert_array_equal(found.worst, [1, 1, 3])


def test_every_cell_has_its_number():
    page = plots.leaderboard(RESULTS, bold=["best"])
    panel = page.axes[0]
    assert [text.get_text() for text in panel.texts] == [
        *("1.00", "1.00", "2.00"),
        *("1.00", "–", "3.00"),
        *("–", "1.00", "–"),
        *("1.00", "1.00", "3.00"),
    ]
    assert len(panel.patches) == 4  # the best of each task, two on the first
    weights = {label.get_text(): label.get_fontweight() for label in panel.get_xticklabels()}
    assert weights == {"best": "bold", "odd": "normal", "poor": "normal"}
    np.testing.assert_array_equal(
        np.ma.filled(panel.collections[0].get_array(), np.nan), ratios(RESULTS).values
    )
    page.draw_without_rendering()


def test_nothing_beats_no_regret():
    page = plots.leaderboard({"a": {"one": 0.0}, "b": {"one": 0.5}, "c": {"one": 0.0}})
    assert [text.get_text() for text in page.axes[0].texts[:3]] == ["1.00", "1.00", "∞"]
    page.draw_without_rendering()


@pytest.mark.parametrize(
    ("results", "says"),
    [
        ({}, "must not be empty"),
        (3, "results=3: must be a dict"),
        ({"a": {}}, r"results\['a'\]=.*must not be empty"),
        ({"a": 3.0}, r"results\['a'\]=3.0: must be a dict"),
        ({"a": {"one": -1.0}}, r"results\['a'\]\['one'\]=-1.0: must be a finite regret"),
        ({"a": {"one": math.nan}}, "must be a finite regret"),
        ({"a": {"one": []}}, "must be a finite regret"),
        ({"a": {"one": "x"}}, "must be a number or a list"),
    ],
)
def test_bad_results(results, says):
    with pytest.raises(wv.WindvaneError, match=says):
        plots.leaderboard(results)
