"""Units go with a study through every door: words, files, and back in again."""

import csv
import json

import pytest

import windvane as wv
from windvane.cli.main import main
from windvane.study import Study
from windvane.unit_labels import labelled, parted

ODD = ["N", "°C", "%", "m/s²", "N, or kg m/s²", "[N]", "] [", "a[b", "x]", '"in"', "µ'", "=1+1", "a;b", "1:2"]
NAMES = ["force", "force [N]", "force [N] []", "step", "x.step", "a,b", 'say "it"', "[", "]"]


def _space(unit):
    return wv.Space(
        force=wv.Real(0, 10, unit=unit),
        taps=wv.Integer(1, 8, unit=unit),
        mode=wv.Choice(["a", "b"]),
        load=wv.Context(0, 100, unit=unit),
        step=wv.Real(0, 1, unit=unit),  # called like a column of the journal
    )


def _study(path, name, unit, space=None):
    return Study.create(
        path,
        name,
        space or _space(unit),
        "gp-ucb",
        seed=0,
        constraints={"heat": wv.AtMost(90, unit=unit)},
    )


def _told(study):
    for step, heat in enumerate((80.0, 95.0, 85.5)):
        x = {"force": 1.5 + step, "taps": 2 + step, "mode": "b", "load": 37.25, "step": 0.5}
        study.add(x, float(step), heat=heat)


@pytest.mark.parametrize("unit", ODD)
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_what_is_exported_with_units_is_imported(tmp_path, unit, ending):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    file = tmp_path / f"journal.{ending}"
    with (
        _study(tmp_path / "a.db", "first", unit) as first,
        _study(tmp_path / "a.db", "second", unit) as second,
    ):
        _told(first)
        first.export(file)
        assert second.import_log(file) == 3
        before, after = (
            [(r.x, r.y, r.outcomes) for r in each.events(kinds=["told"])] for each in (first, second)
        )
        assert before == after


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("wrong", ["space", "constraint"])
def test_another_unit_is_refused(tmp_path, ending, wrong):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    file = tmp_path / f"journal.{ending}"
    limits = {"heat": wv.AtMost(90, unit="°C" if wrong == "space" else "K")}
    space = _space("kN" if wrong == "space" else "°C")
    with (
        _study(tmp_path / "a.db", "first", "°C") as first,
        Study.create(tmp_path / "a.db", "other", space, "gp-ucb", seed=0, constraints=limits) as other,
    ):
        _told(first)
        first.export(file)
        with pytest.raises(
            wv.InvalidArgument, match=r"journal.*is in '°C' here, but was declared in 'k?[NK]'"
        ):
            other.import_log(file)
        assert other.summary().tells == 0


def test_a_study_without_units_takes_a_log_that_has_some_and_the_reverse(tmp_path):
    with _study(tmp_path / "a.db", "with", "N") as some, _study(tmp_path / "a.db", "without", "") as none:
        _told(some)
        _told(none)
        some.export(tmp_path / "with.csv")
        none.export(tmp_path / "without.csv")
        assert none.import_log(tmp_path / "with.csv") == 3
        assert some.import_log(tmp_path / "without.csv") == 3


def test_the_headings_of_a_table_have_the_units(tmp_path):
    with _study(tmp_path / "a.db", "press", "N, m") as study:
        _told(study)
        study.export(tmp_path / "press.csv")
        study.export(tmp_path / "press.jsonl")
    with (tmp_path / "press.csv").open(newline="", encoding="utf-8") as file:
        header = next(csv.reader(file))
    assert header[4:9] == ["force [N, m]", "taps [N, m]", "mode", "load [N, m]", "x.step [N, m]"]
    assert header[-1] == "outcome.heat [N, m]"
    for line in (tmp_path / "press.jsonl").read_text(encoding="utf-8").splitlines():
        units = json.loads(line)["units"]
        assert list(units) == ["force", "taps", "load", "x.step", "outcome.heat"]
        assert set(units.values()) == {"N, m"}


def test_names_that_look_as_if_they_had_a_unit(tmp_path):
    space = wv.Space({name: wv.Real(0, 1, unit="N" if i == 0 else "") for i, name in enumerate(NAMES)})
    x = {name: (i + 1) / 16 for i, name in enumerate(NAMES)}
    with (
        Study.create(tmp_path / "a.db", "first", space, "random", seed=0) as first,
        Study.create(tmp_path / "a.db", "second", space, "random", seed=0) as second,
    ):
        first.add(x, 1.0)
        first.export(tmp_path / "odd.csv")
        second.import_log(tmp_path / "odd.csv")
        assert second.events()[0].x == x


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("unit", ["", *ODD])
def test_a_heading_is_read_in_one_way(name, unit):
    assert parted(labelled(name, unit)) == (name, unit)


def test_a_log_made_by_hand_may_have_units_in_its_header(tmp_path):
    file = tmp_path / "log.csv"
    file.write_text("time [h],force [N],y [ms]\n1,2.5,7\n2,3.5,8\n", encoding="utf-8")
    log = wv.replay(file, "random", wv.Space(force=wv.Real(0, 10, unit="N"))).log
    assert log.points == ({"force": 2.5}, {"force": 3.5})
    assert (log.values, log.times) == ((7.0, 8.0), (1.0, 2.0))
    with pytest.raises(wv.InvalidArgument, match=r"column force \[N\]: force is in 'N' here.*'kN'"):
        wv.replay(file, "random", wv.Space(force=wv.Real(0, 10, unit="kN")))


def test_an_explanation_says_units_as_text_and_in_a_notebook(tmp_path):
    with _study(tmp_path / "a.db", "press", "kN") as study:
        _told(study)
        study.correct(study.events()[0], heat=81.0)
        found = study.explain()
        for text in (found.text, found._repr_html_(), study.optimizer._repr_html_()):
            assert " kN, taps=" in text
            assert "mode=b" in text or "mode=a" in text
        assert "heat of record 1, 80 kN, was corrected to 81 kN" in found.text


def test_the_shell_takes_units_and_says_them(tmp_path, capsys):
    db = ["--db", str(tmp_path / "a.db")]

    def say(*words):
        assert main(["study", *words, *db]) in (0, None)
        return capsys.readouterr().out

    params = ["force=real:1:10:log:unit=N·m", "taps=integer:1:8:unit=#"]
    context = ["--context", "load=real:0:100:clip:unit=%", "--constraint", "heat<=90 °C"]
    say("create", "press", "--param", params[0], "--param", params[1], *context)
    shown = say("show", "press")
    assert "real, 1 to 10 N·m, log scale" in shown
    assert "context, real, 0 to 100 %, clipped" in shown
    told = say("tell", "press", "--at", '{"force": 2, "taps": 3, "load": 40}', "7", "--outcome", "heat=95")
    assert "force=2 N·m, taps=3 #, load=40 %" in told
    assert "force=2 N·m, taps=3 #, load=40 %  y=7  heat=95 °C!" in say("events", "press")
    assert " N·m, taps=" in say("explain", "press")
    assert "force [N·m],taps [#],load [%],y," in say("export", "press", "-").splitlines()[0]
