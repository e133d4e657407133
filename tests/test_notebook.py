"""Records in a notebook say what was broken."""

import pytest

import windvane as wv


def test_an_event_with_constraints():
    opt = wv.make(
        wv.Box([(0, 1)]), seed=0, constraints={"heat": wv.AtMost(90, unit="°C"), "test": wv.AtLeast(0)}
    )
    event = opt.tell([0.5], 1.0, heat=93.5, test=1.0)
    html = event._repr_html_()
    assert "step 1: heat beyond the limit" in html
    assert "constraint heat</th>" in html
    assert "93.5, BEYOND THE LIMIT" in html
    assert "1, within the limit" in html
    assert "constraint test</th>" in html
    assert "beyond the limit" not in opt.tell([0.6], 1.0, heat=84.0)._repr_html_()
    assert f"all hold with probability {opt.best().feasible:.3g}" in opt.best()._repr_html_()


def test_without_constraints_nothing_is_said_of_them():
    opt = wv.make(wv.Box([(0, 1)]), seed=0)
    assert "limit" not in opt.tell([0.5], 1.0)._repr_html_()
    assert "constraints" not in opt.best()._repr_html_()


def test_a_retreat():
    limits = {"heat": wv.AtMost(1)}
    opt = wv.make(wv.Box([(0, 1)]), seed=0, constraints=limits, safe=0.99, start=[[0.5]])
    event = opt.tell([0.5], 1.0, heat=0.9)
    for _ in range(12):
        event = opt.tell(opt.ask(), 1.0, heat=30.0)
        if event.retreat is not None:
            break
    assert event.retreat is not None
    assert "nothing is believed safe" in event._repr_html_()


SPACE = wv.Space(
    gain=wv.Real(0.1, 10, log=True, unit="<dB>"),
    taps=wv.Integer(1, 8),
    mode=wv.Choice(["a<b", "c"]),
    load=wv.Context(0, 100, unit="%"),
)


def test_a_space_has_its_ranges_and_units():
    html = SPACE._repr_html_()
    assert "0.1 to 10 &lt;dB&gt;, log scale" in html
    assert "whole numbers, 1 to 8" in html
    assert "one of a&lt;b, c" in html
    assert "context, observed: 0 to 100 %" in html
    assert "<dB>" not in html


def test_an_optimiser_says_where_it_stands():
    opt = wv.make(SPACE, seed=0)
    assert "0 observations" in opt._repr_html_()
    assert "best now" not in opt._repr_html_()
    before = opt.state()
    opt.tell(opt.ask(context={"load": 5}), 1.0)
    html = opt._repr_html_()
    for text in ("auto", "1 observation, of which 1 in use", "best now", "static 0.30", "maximize"):
        assert text in html
    assert "a<b" not in html
    assert before != opt.state()


def test_a_study_its_summary_and_its_explanation(tmp_path):
    pytest.importorskip("sqlalchemy")
    with wv.Study.create(tmp_path / "plant.db", "press", SPACE, seed=0) as study:
        for y in (1.0, 2.0):
            study.tell(study.ask(context={"load": 5}), y)
        for html in (study._repr_html_(), study.summary()._repr_html_()):
            assert "study press" in html
            assert "2 observations, of which 2 in use" in html
        assert "plant.db" in study._repr_html_()
        html = study.explain()._repr_html_()
    assert html.count("<p ") >= 2
    assert "press (auto, maximize): 2 observations told" in html
    assert "a<b" not in html
