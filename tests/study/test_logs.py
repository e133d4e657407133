"""Importing: what was exported says the same again; what is wrong is named before anything is told."""

import gzip
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import windvane as wv
from windvane.errors import InvalidArgument, WindvaneError
from windvane.storage import Database
from windvane.study import Study

SPACES = {
    "box": (
        wv.Box([(0, 1), (-5, 5)]),
        {"algorithm": "et-gp-ucb", "kernel": wv.RBF([0.2, 0.2]), "noise_variance": 0.01},
    ),
    "auto": (wv.Box([(0, 1)]), {"algorithm": "auto"}),
    "arms": (wv.Arms(4), {"algorithm": "random"}),
    "space": (
        wv.Space(
            {
                "gain": wv.Real(0.1, 10, log=True),
                "y": wv.Integer(1, 8),
                "mode": wv.Choice(["a, b", "c\rd", 'e"f']),
                "any": wv.Choice([2, 0.5, True, "word"]),
            }
        ),
        {"algorithm": "auto"},
    ),
}


def made(path, which):
    space, options = SPACES[which]
    now = [1000.0]
    study = Study.create(path, "s", space, seed=3, expires_after=50.0, clock=lambda: now[0], **options)
    return study, now


def told(study):
    return [(r.x, r.y, r.time, r.event, dict(r.metadata)) for r in study.events(kinds=["told"])]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("which", SPACES)
def test_an_export_imported_says_the_same_bit_for_bit(tmp_path, which, kind):
    study, now = made(tmp_path / "a.db", which)
    with study:
        for number in range(8):
            study.tell(study.ask(), (5.0 if number == 6 else 0.1) + number / 7, metadata={"nr": number})
        study.tell(study.ask(), 0.3, 100.125)
        study.tell(study.ask(), 0.4, 20.0)  # late: recorded as it is
        study.tell(study.ask(), 0.5)
        study.fail(study.ask(), "pump off")
        study.ask()
        now[0] += 100.0
        study.tell(study.ask(), 0.6)
        assert {record.kind for record in study.events()} == {"asked", "told", "failed", "expired"}
        study.export(tmp_path / f"log.{kind}")
        before = told(study)
    twin, _ = made(tmp_path / "b.db", which)
    with twin:
        assert twin.import_log(tmp_path / f"log.{kind}") == len(before) == 12
        assert json.dumps(told(twin)) == json.dumps(before)  # -0.0 is not 0.0, nor 1 True
        assert {record.kind for record in twin.events()} == {"told"}


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.floats(0, 1),
            st.floats(-1e3, 1e3),
            st.none() | st.floats(0, 1e6),
            st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=5), max_size=2),
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(["csv", "jsonl", "parquet"]),
)
def test_whatever_was_told(tmp_path_factory, rows, kind):
    folder = tmp_path_factory.mktemp("told")
    space = wv.Box([(0, 1)])
    with Database(folder / "s.db", create=True) as database:
        study, twin = (Study.create(database, name, space, "random", seed=0) for name in ("a", "b"))
        study.add_many([([x], y, time, notes) for x, y, time, notes in rows])
        study.export(folder / f"log.{kind}")
        twin.import_log(folder / f"log.{kind}")
        assert json.dumps(told(twin)) == json.dumps(told(study))


def test_an_export_in_other_clothes(tmp_path):
    """Packed, and with the semicolons of a spreadsheet."""
    study, _ = made(tmp_path / "a.db", "box")
    with study:
        study.tell(study.ask(), 0.25, metadata={"nr": 1})
        study.export(tmp_path / "log.csv")
        before = told(study)
    text = (tmp_path / "log.csv").read_text()
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "other.csv").write_text(
        "\ufeff" + text.replace('"{""nr"":1}"', "{}").replace(",", ";"), encoding="utf-8"
    )
    for number, (name, notes) in enumerate([("packed.csv.gz", {"nr": 1}), ("other.csv", {})]):
        twin, _ = made(tmp_path / f"b{number}.db", "box")
        with twin:
            twin.import_log(tmp_path / name)
            assert told(twin) == [(*before[0][:4], notes)]


def test_a_log_by_hand(tmp_path):
    (tmp_path / "log.csv").write_text("time,x1,x2,value,note\n10,0.5,1,0.25,a\n12.5,0.75,-1,0.5,b\n")
    (tmp_path / "log.jsonl").write_text(
        '{"x": [0.5, 1], "y": 0.25, "time": 10}\n\n{"x": [0.75, -1], "y": 0.5, "time": 12.5, "metadata": {"a": 1}}\n'
    )
    for kind, notes in (("csv", {}), ("jsonl", {"a": 1})):
        study, _ = made(tmp_path / f"{kind}.db", "box")
        with study:
            assert study.import_log(tmp_path / f"log.{kind}") == 2
            found = [(x, y, time, meta) for x, y, time, _, meta in told(study)]
        assert found == [([0.5, 1.0], 0.25, 10.0, {}), ([0.75, -1.0], 0.5, 12.5, notes)]


@pytest.mark.parametrize(
    ("name", "text", "place", "said"),
    [
        ("log.csv", "x1,x2,y\n0.5,1,2\n0.5,6,2\n", "line 3", "x[1]=6.0"),
        ("log.csv", "x1,x2,y\n0.5,1,2\n0.5,1,nan\n", "line 3", "y is missing"),
        ("log.csv", "x1,x2,y\n0.5,1,2\n0.5,1,1e200\n", "line 3", "at most 1e+100"),
        ("log.csv", "x1,x2,y\n0.5,1,2\n0.5,1\n", "line 3", "2 cells"),
        ("log.csv", "x1,y\n0.5,1\n", "", "no column x2"),
        ("log.csv", "time,x1,x2,y\n5,0.5,1,2\n4,0.5,1,2\n", "line 3", "before the one above"),
        ("log.jsonl", '{"x": [0.5, 1], "y": 2}\n{"x": [0.5, 9], "y": 2}\n', "line 2", "x[1]=9"),
        (
            "log.jsonl",
            '{"x": [0.5, 1], "y": 2}\n{"x": [0.5, 1], "y": 2, "metadata": [1]}\n',
            "line 2",
            "metadata",
        ),
        ("log.jsonl", '{"x": [0.5, 1], "y": 2}\n{"x"\n', "line 2", "not JSON"),
        ("log.csv", "seq,kind,at,trial,x1,x2,y,time,metadata\n1,told,5,,0.5,1,2,,{\n", "line 2", "metadata"),
        ("log.csv", "", "", "header"),
        ("log.parquet", "no parquet", "", "cannot be read as parquet"),
        ("log.xlsx", "", "", "must end in"),
    ],
)
def test_errors_name_the_place_and_nothing_is_told(tmp_path, name, text, place, said):
    (tmp_path / name).write_text(text)
    study, _ = made(tmp_path / "s.db", "box")
    with study:
        with pytest.raises(WindvaneError) as caught:
            study.import_log(tmp_path / name)
        assert study.summary().head == 0
    assert str(tmp_path / name) in str(caught.value)
    assert place in str(caught.value)
    assert said in str(caught.value)


def test_an_error_far_down_leaves_the_study_as_it_was(tmp_path):
    """Far beyond the first batch: 300 good lines, then metadata that is too large."""
    lines = [json.dumps({"x": [0.5, 1], "y": 0.5})] * 300
    lines.append(json.dumps({"x": [0.5, 1], "y": 0.5, "metadata": {"a": "b" * 20_000}}))
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    study, _ = made(tmp_path / "s.db", "box")
    with study:
        with pytest.raises(InvalidArgument, match="line 301: metadata"):
            study.import_log(tmp_path / "log.jsonl")
        assert study.summary().head == 0


def test_no_such_file(tmp_path):
    study, _ = made(tmp_path / "s.db", "box")
    with study, pytest.raises(WindvaneError, match="there is no such file"):
        study.import_log(tmp_path / "none.csv")


@pytest.mark.parametrize("options", [[1, "1"], ["a", "A"], ["a", " a"], [True, "true"]])
def test_options_that_look_alike_are_not_mistaken_for_each_other(tmp_path, options):
    space = wv.Space(mode=wv.Choice(options))
    with Database(tmp_path / "s.db", create=True) as database:
        study, twin = (Study.create(database, name, space, "random", seed=0) for name in ("a", "b"))
        for option in options:
            study.add({"mode": option}, 0.5)
        for kind in ("csv", "parquet", "jsonl"):
            study.export(tmp_path / f"log.{kind}")
            if kind != "jsonl" or " a" in options:
                with pytest.raises(InvalidArgument, match="look alike in a"):
                    twin.import_log(tmp_path / f"log.{kind}")
                assert twin.summary().head == 0
            else:
                twin.import_log(tmp_path / f"log.{kind}")
                assert json.dumps(told(twin)) == json.dumps(told(study))


def test_lines_out_of_order_are_refused_or_sorted(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("x1,y,time\n0.1,1,10\n0.2,2,30\n0.3,3,20\n")
    with wv.Study.create(tmp_path / "s.db", "a", wv.Box([(0, 1)]), "random", seed=0) as study:
        with pytest.raises(wv.WindvaneError, match=r"--sort"):
            study.import_log(log)
        assert study.summary().head == 0
        assert study.import_log(log, sort=True) == 3
        assert [record.time for record in study.events()] == [10.0, 20.0, 30.0]
        assert [record.y for record in study.events()] == [1.0, 3.0, 2.0]
