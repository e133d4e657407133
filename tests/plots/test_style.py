"""One look: colours that everybody can tell apart, an algorithm's own everywhere, no global state."""

import itertools
import pickle
import subprocess
import sys

import numpy as np
import pytest

import windvane as wv
from windvane import plots
from windvane.plots import style

# Machado, Oliveira and Fernandes (2009), complete dichromacy, in linear RGB.
SIGHT = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
TELLS_APART = 10.0  # of CIE76: about 2.3 is just noticeable side by side


def lab(shade, sight):
    """CIELAB under D65 of a colour, as somebody with this sight sees it."""
    srgb = np.array([int(shade[i : i + 2], 16) / 255.0 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(SIGHT[sight] @ linear, 0.0, 1.0)
    white = XYZ @ np.ones(3)
    share = XYZ @ seen / white
    f = np.where(share > (6 / 29) ** 3, np.cbrt(share), share / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_the_measure_is_right():
    np.testing.assert_allclose(lab("#ffffff", "normal"), [100.0, 0.0, 0.0], atol=0.02)
    np.testing.assert_allclose(lab("#ff0000", "normal"), [53.24, 80.09, 67.20], atol=0.05)
    red, green = (lab(shade, "deuteranopia") for shade in ("#c00000", "#607000"))
    assert np.linalg.norm(red - green) < np.linalg.norm(lab("#c00000", "normal") - lab("#607000", "normal"))


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_can_be_told_apart(sight):
    for one, other in itertools.combinations(style.SPARE, 2):
        assert np.linalg.norm(lab(one, sight) - lab(other, sight)) > TELLS_APART, (one, other)


@pytest.mark.parametrize("sight", SIGHT)
def test_colours_stand_out_from_white(sight):
    for shade in style.SPARE:
        assert lab(shade, sight)[0] < 80.0


def test_every_algorithm_has_a_look():
    assert set(style.LOOKS) == set(wv.algorithms())


def test_an_algorithm_is_the_same_by_name_label_and_options():
    assert style.look("TV-GP-UCB + MLE") == style.look("tv-gp-ucb-mle")
    assert style.look("et-gp-ucb:delta=0.2") == style.look("ET-GP-UCB")
    assert style.colour("mine") == style.colour("mine")


def test_no_two_lines_of_a_figure_look_alike():
    names = [*wv.algorithms(), "tv-gp-ucb:rate=0.01", "tv-gp-ucb:rate=0.1", "a", "b", "c", "d"]
    found = style.looks(names)
    assert list(found) == names
    assert len({(each.colour, each.dashes) for each in found.values()}) == len(names)
    assert found["et-gp-ucb"] == style.look("et-gp-ucb")
    assert found["tv-gp-ucb:rate=0.1"].colour == style.colour("tv-gp-ucb")


def test_unknown_names_take_colours_that_are_free():
    found = style.looks(["one", "two", "et-gp-ucb", "three", "four"])
    assert len({each.colour for each in found.values()}) == 5
    assert found["et-gp-ucb"].colour == style.VERMILION


def test_a_figure_is_shown_by_notebooks_and_survives_pickle():
    page = plots.reset_times({"a": [[3]]})
    data, shown = page._repr_png_()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20]) == pytest.approx(2 * shown["width"], abs=1)
    again = pickle.loads(pickle.dumps(page))
    assert type(again) is type(page)
    assert len(again.axes) == 1


def test_a_figure_is_saved_twice_with_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        style.save(plots.reset_times({"a": [[3]]}), tmp_path, name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


PROGRAM = """
import sys
import windvane as wv
from windvane import plots
assert "matplotlib" not in sys.modules, "imported before anything is drawn"
task = wv.task("jumps", horizon=12, seed=0)
opt = wv.make("et-gp-ucb", task.space, kernel=task.kernel, noise_variance=task.noise_variance)
past = plots.Snapshots(opt)
trace = wv.simulate(opt, task, on_step=past)
trace._repr_html_(), trace.events[0]._repr_html_(), opt.best()._repr_html_()
assert "matplotlib" not in sys.modules, "imported for HTML"
for page in (
    plots.regret({"a": trace}),
    plots.trigger(trace.events),
    plots.slices(past),
    plots.slices(past, kind="map"),
    plots.reset_times({"a": trace}),
    plots.leaderboard({"a": {"b": 1.0}}),
):
    page._repr_png_()
assert "matplotlib.pyplot" not in sys.modules
"""


def test_no_pyplot():
    """In a process of its own: other tests may have imported it."""
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=120)


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    from windvane.plots import picture

    def absent(module, extra):
        raise wv.MissingExtra(f"this needs {module}: pip install 'windvane[{extra}]'")

    monkeypatch.setattr(picture, "require", absent)
    picture._kind.cache_clear()
    with pytest.raises(wv.MissingExtra, match=r"windvane\[plots\]"):
        plots.reset_times({0.1: [[3]]})
