"""What notebooks show: well-formed, escaped, the right numbers, no colours that a dark page would swallow."""

import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import windvane as wv
from windvane.plots.html import HEIGHT, SHOWN, WIDTH, sparkline

EVIL = '<script>alert(1)</script> & "more"'
VOID = {"br", "hr", "img"}


class Reader(HTMLParser):
    """The text and the tags of a page; complains about tags that are not closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(page)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(thing):
    page = thing._repr_html_()
    found = Reader(page)
    assert not [tag for tag, _ in found.tags if tag == "script"]
    styles = " ".join(attributes.get("style", "") for _, attributes in found.tags)
    assert not re.search(r"background:(?!none)", styles)  # no boxes
    assert not re.search(r"(?<![-\w])color:(?!inherit|#D55E00)", styles)
    return found


def test_a_trace(traces):
    trace = traces["et-gp-ucb"][0]
    found = read(trace)
    text = " ".join(found.texts)
    assert "60 steps" in text
    assert f"R_T / T = {trace.regret.mean():.4g}" in text
    assert f"R_T = {trace.regret.sum():.4g}" in text
    marks = [attributes["x1"] for tag, attributes in found.tags if tag == "line"][1:]
    assert marks == [f"{(step - 1) * WIDTH / 59:.1f}" for step in trace.resets]
    assert len(marks) >= 1
    for event in trace.events:
        assert (event.reason in found.texts) == bool(event.reason)


def test_a_reason_is_escaped(event):
    trace = wv.Trace(np.ones(3), (event(1), event(2, reset=True, reason=EVIL, kept=1), event(3)))
    assert EVIL in read(trace).texts
    assert EVIL in read(event(1, reset=True, reason=EVIL)).texts


def test_many_resets_are_counted(event):
    events = tuple(event(step, reset=True, reason="r") for step in range(1, 31))
    text = " ".join(read(wv.Trace(np.ones(30), events)).texts)
    assert f"... and {30 - SHOWN} more, the last at step 30" in text


@pytest.mark.parametrize("regret", [[], [0.0], [0.0, 0.0], np.arange(1000.0), [-1.0, 1.0]])
def test_any_regret(regret):
    read(wv.Trace(np.array(regret, dtype=float), ()))


def test_a_sparkline_goes_through_the_values():
    picture = sparkline([0.0, 2.0, 1.0])
    ((_, line),) = [each for each in Reader(picture).tags if each[0] == "polyline"]
    points = [tuple(map(float, pair.split(","))) for pair in line["points"].split()]
    assert [x for x, _ in points] == [0.0, WIDTH / 2, WIDTH]
    heights = [HEIGHT - 1 - y for _, y in points]
    np.testing.assert_allclose(heights, [0.0, HEIGHT - 2.0, (HEIGHT - 2.0) / 2], atol=0.06)


def test_a_long_sparkline_has_the_means_of_stretches():
    ((_, line),) = [each for each in Reader(sparkline(np.arange(480.0))).tags if each[0] == "polyline"]
    points = np.array([pair.split(",") for pair in line["points"].split()], dtype=float)
    assert len(points) == 240
    np.testing.assert_allclose(points[:, 0], (np.arange(240) * 2 + 0.5) * WIDTH / 479, atol=0.06)


def test_an_event(event):
    happened = event(
        7, x={"gain": 0.123456, "mode": EVIL}, reset=True, reason="why not", statistic=2.0, kept=1, size=1
    )
    found = read(happened)
    assert "step 7: reset" in found.texts
    assert f"gain=0.1235, mode={EVIL}" in found.texts
    assert "2 > 1" in found.texts
    assert "1 observation, kept" in found.texts
    assert "0.7, where 0.00 ± 0.50 was predicted" in found.texts
    quiet = read(event(1, threshold=math.inf, monitored=False, set_aside=True, outlier=1, beliefs={"b": 1.0}))
    assert "step 1: set aside, outlier" in quiet.texts
    assert "0.5 ≤ inf, not monitored yet" in quiet.texts
    assert "b 1.00" in quiet.texts
    assert "why" not in quiet.texts


def test_the_best_and_a_trial():
    found = read(wv.Best({"mode": EVIL}, 1.5, 0.25))
    assert [f"mode={EVIL}", "1.50 ± 0.25"] == [text for text in found.texts if "=" in text or "±" in text]
    assert "arm 3" in read(wv.Best(3, 0.0, 1.0)).texts
    from windvane.protocol.records import Trial

    found = read(Trial(3, [0.5], 0.0, 60.0, metadata={EVIL: EVIL}))
    assert "trial 3" in found.texts
    assert "1970-01-01 00:01:00 UTC" in found.texts
    assert found.texts.count(EVIL) == 2


def test_reports():
    log = wv.Log([[0.1], [0.5], [0.9]], [1.0, 2.0, 1.5], source=EVIL)
    replay = wv.replay(log, ["gp-ucb", "et-gp-ucb"], wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.1)
    found = read(replay)
    assert {cell for table in replay.tables for row in table.rows for cell in row} <= set(found.texts)
    assert any(EVIL in text for text in found.texts)
    report = wv.calibrate(
        "et-gp-ucb", wv.Box([(0, 1)]), kernel=wv.RBF(0.2), noise_variance=0.02, deltas=[0.1], steps=6, runs=2
    )
    assert {cell for row in report.cells for cell in row} <= set(read(report).texts)
