"""`windvane study` in scripts: what it prints, what it returns, and what is in the database afterwards."""

import csv
import io
import json
import os
import pty
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import time

import pytest
from shell import reader

import windvane as wv
from windvane.cli import main, place
from windvane.cli.studies import common, words
from windvane.cli.studies import delete as delete_verb
from windvane.cli.studies import events as events_verb
from windvane.cli.studies import listing as listing_verb
from windvane.errors import MissingExtra
from windvane.storage import Database
from windvane.study import Study

VERBS = (
    "create", "list", "show", "ask", "tell", "fail", "best", "events", "explain", "predict", "export", "import", "delete",
)  # fmt: skip
QUICK = "--algorithm random --seed 1"
FILTER = (
    f"create filter --param gain=real:0.1:10:log --param taps=integer:1:8 --param mode=choice:a,b {QUICK}"
)


@pytest.fixture
def db(tmp_path, monkeypatch):
    path = tmp_path / "studies.db"
    monkeypatch.setenv("WINDVANE_DB", str(path))
    monkeypatch.chdir(tmp_path)
    return path


@pytest.fixture
def shell(db, capsys):
    return reader(capsys, "study")


def test_from_nothing_to_the_best(shell, db):
    assert "study 'filter'" in shell(FILTER)
    with Study.open(db, "filter") as study:
        assert study.space == wv.Space(
            gain=wv.Real(0.1, 10, log=True), taps=wv.Integer(1, 8), mode=wv.Choice(["a", "b"])
        )
        assert study.definition["seed"] == 1
    trial = json.loads(shell("ask filter --json"))
    with Study.open(db, "filter") as study:
        assert trial == study.trial(1).as_dict()
    words = shell("ask filter")
    assert words.startswith("trial 2: gain=")
    record = json.loads(shell("tell filter 1 0.25 --json"))
    assert (record["kind"], record["trial"], record["y"], record["x"]) == ("told", 1, 0.25, trial["x"])
    assert "step 2: y = 0.5" in shell("tell filter 2 0.5")
    best = json.loads(shell("best filter --json"))
    mean, std = json.loads(shell(f"predict filter '{json.dumps(best['x'])}' --json")).values()
    assert mean == pytest.approx([best["mean"]])
    assert std == pytest.approx([best["std"]])
    with Study.open(db, "filter") as study:
        assert best["x"] == study.best().x
        assert json.loads(shell("show filter --json"))["tells"] == study.summary().tells == 2


def test_values_for_a_shell_have_all_digits(shell, db):
    shell(FILTER)
    number, gain, taps, mode = shell("ask filter --format values").split()
    with Study.open(db, "filter") as study:
        assert study.trial(int(number)).x == {"gain": float(gain), "taps": int(taps), "mode": mode}
    shell("tell filter 1 0.5")
    assert len(shell("best filter --format values").split()) == 3
    assert "give one of the two" in shell("ask filter --format values --json", 2)


def test_values_that_a_shell_would_split_are_refused_before_a_trial_begins(shell, db):
    shell(f"create filter --param 'mode=choice:a b,c' {QUICK}")
    assert "'a b'" in shell("ask filter --format values", 2)
    with Study.open(db, "filter") as study:
        assert study.summary().trials == 0


@pytest.mark.parametrize("y", ["-1e-05", "-0.5", "-3", "1e3", "+2", "-.5"])
@pytest.mark.parametrize(
    "line", ["tell press 1 {} --time 3", "tell press 1 --time 3 {}", "tell --time 3 press 1 {}"]
)
def test_numbers_in_any_place(shell, db, line, y):
    shell(f"create press --box 0,1 {QUICK}")
    shell("ask press")
    record = json.loads(shell(f"{line.format(y)} --json"))
    assert (record["y"], record["time"]) == (float(y), 3.0)


def test_what_nobody_asked_for(shell, db):
    shell(f"create press --box 0,1 0,1 {QUICK}")
    record = json.loads(shell("""tell press --at '[0.5, 0.25]' -1.5 --metadata '{"by": "ada"}' --json"""))
    assert (record["trial"], record["x"], record["y"], record["metadata"]) == (
        None,
        [0.5, 0.25],
        -1.5,
        {"by": "ada"},
    )
    for line in ("tell press 0.5", "tell press 1 0.5 --at '[0.5, 0.25]'"):
        assert "either TRIAL or --at" in shell(line, 2)


def test_fail(shell, db):
    shell(f"create press --box 0,1 {QUICK}")
    shell("ask press")
    assert json.loads(shell("fail press 1 'pump off' --json"))["reason"] == "pump off"
    assert "failed already" in shell("fail press 1", 4)
    with Study.open(db, "press") as study:
        assert study.trial(1).status == "failed"
        assert study.summary().tells == 0


def test_a_reason_does_nothing_to_a_terminal(shell, db):
    shell(f"create press --box 0,1 {QUICK}")
    shell("ask press")
    assert shell("fail press 1 'off\n\x1b[2J'") == "trial 1: recorded as failed: off ?[2J\n"
    assert shell("events press --last 1").endswith("off ?[2J\n")
    assert json.loads(shell("events press --last 1 --json"))["reason"] == "off\n\x1b[2J"


def test_a_key_makes_a_retry_harmless(shell, db):
    shell(f"create press --box 0,1 {QUICK}")
    for line in ("ask press --key a --json", "tell press 1 0.5 --key b --json"):
        assert json.loads(shell(line)) == json.loads(shell(line))
    with Study.open(db, "press") as study:
        assert study.summary().head == 2


def test_create_with_everything(shell, db):
    shell(
        "create press --box 0,1 0,1 --algorithm et-gp-ucb --goal minimize --seed 7 --expires-after never "
        "--kernel matern52 --lengthscale 0.2 0.3 --option noise_variance=0.02 --option trigger=exact-bound "
        """--metadata '{"line": 3}'"""
    )
    with Study.open(db, "press") as study:
        wanted = wv.make(
            "et-gp-ucb", wv.Box([(0, 1), (0, 1)]), goal="minimize", seed=7, kernel=wv.Matern52([0.2, 0.3]),
            noise_variance=0.02, trigger=wv.ExactBound(),
        )  # fmt: skip
        assert study.optimizer.state() == wanted.state()
        assert study.definition["expires_after"] is None
        assert study.definition["metadata"] == {"line": 3}


def test_create_with_names_of_parts_and_a_goal_in_british_spelling(shell, db):
    shell("create press --box 0,1 --goal minimise --option acquisition=ucb --option trigger=exact-bound")
    with Study.open(db, "press") as study:
        assert study.optimizer.goal == study.summary().goal == "minimize"
        assert study.optimizer.composition.acquisition == wv.SpreadFirst(5, wv.UCB())
        assert study.optimizer.composition.trigger == wv.ExactBound()


def test_create_what_may_be_there_already(shell, db):
    line = f"create press --box 0,1 {QUICK} --exist-ok --json"
    made = json.loads(shell(line))
    shell("tell press --at [0.5] 0.7")
    again = json.loads(shell(line))
    assert (again["created"], again["tells"]) == (made["created"], 1)
    assert "goal: there is a study of that name with another" in shell(f"{line} --goal minimize", code=4)


DEFINITION = {
    "name": "another",
    "space": {"parameters": {"gain": {"real": [0.1, 10], "log": True}}},
    "algorithm": "et-gp-ucb",
    "seed": 5,
    "expires_after": 60,
    "options": {"kernel": {"type": "RBF", "lengthscale": [0.2]}, "noise_variance": 0.1},
}


def test_create_from_a_definition(shell, db, tmp_path, monkeypatch):
    (tmp_path / "d.json").write_text(json.dumps(DEFINITION))
    summary = json.loads(shell("create press --definition d.json --json"))
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(DEFINITION)))
    again = json.loads(shell("create press-2 --definition - --json"))
    assert summary["definition"] == again["definition"]
    assert (summary["name"], summary["definition"]["seed"]) == ("press", 5)
    with Study.open(db, "press") as study:
        assert study.space == wv.Space(gain=wv.Real(0.1, 10, log=True))
        assert study.optimizer.state() == wv.make(
            "et-gp-ucb", study.space, seed=5, kernel=wv.RBF([0.2]), noise_variance=0.1
        ).state()  # fmt: skip


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("create press", "needs a space"),
        ("create press --box 0,1 --arms 3", "--box with --arms"),
        ("create press --box 1,0", "--box"),
        ("create press --box 0,1 --algorithm et-gp-upb", "did you mean 'et-gp-ucb'"),
        ("create press --box 0,1 --option noise", "NAME=VALUE"),
        ("create press --box 0,1 --option seed=3", "no option of an algorithm"),
        ("create press --box 0,1 --option no_such=3", "no_such"),
        ("create press --box 0,1 --option 'kernel={\"type\"'", "is not JSON"),
        ('create press --box 0,1 --option \'kernel={"type": "RFB"}\'', "no component of type 'RFB'"),
        ("create press --box 0,1 --option trigger=exact", "--option trigger"),
        ("create press --box 0,1 --kernel rbf", "give both"),
        ("create press --box 0,1 --kernel rfb --lengthscale 1", "did you mean 'rbf'"),
        ("create press --box 0,1 --expires-after soon", "or never"),
        ("create press --box 0,1 --expires-after -3", "expires_after=-3.0"),
        ("create press --box 0,1 --metadata '[1]'", "metadata"),
        ('create press --box 0,1 --metadata \'{"a": 1, "a": 2}\'', "'a' comes twice"),
        ("create press/../x --box 0,1", "name='press/../x'"),
        ("create press --definition bad.json", "is not JSON"),
        ("create press --definition good.json --seed 3", "--seed with --definition"),
        ("create press --definition good.json --log-scale gain", "--log-scale with --definition"),
        ("create press --definition good.json --start '[0.5]'", "--start with --definition"),
        ("create press --box 0,1 --option name=b", "no option of an algorithm"),
        ("create press --definition key.json", "did you mean 'algorithm'"),
        ("create press --definition box.json", "space.box[0][1]"),
        ("create press --definition list.json", "must be an object"),
        ("create press --definition empty.json", "has no space"),
        ("create", "usage:"),
        ("create press --box 0,1 --seed x", "usage:"),
        ("dance", "usage:"),
    ],
)
def test_mistakes_make_no_database(shell, db, tmp_path, line, said):
    files = {
        "bad": "{", "good": json.dumps(DEFINITION), "list": "[]", "empty": "{}",
        "key": '{"space": {"arms": 3}, "algorithmn": "auto"}', "box": '{"space": {"box": [[0, "1"]]}}',
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / f"{name}.json").write_text(text)
    assert said in shell(line, 2)
    assert not db.exists()


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        (f"create press --box 0,1 {QUICK}", 4, "already"),
        ("show none", 3, "'none'"),
        ("ask none", 3, "'none'"),
        ("delete none --yes", 3, "'none'"),
        ("tell press 9 0.5", 3, "trial=9"),
        ("fail press 9", 3, "trial=9"),
        ("best press", 4, "before the first tell"),
        ("tell press 1 nan", 2, "windvane study fail"),
        ("tell press 1 -inf", 2, "windvane study fail"),
        ("tell press 1 much", 2, "Y=much"),
        ("tell press 1 1e200", 2, "y=1e+200"),
        ("tell press one 0.5", 2, "TRIAL=one"),
        ("tell press 1 0.5 0.6 x", 2, "Y=x"),
        ("tell press --at '[2]' 0.5", 2, "x[0]=2"),
        ("tell press --at '[2' 0.5", 2, "is not JSON"),
        ("tell press 1 0.5 --metadata 3", 2, "metadata"),
        ("predict press '[2]'", 2, "points[0][0]=2"),
        ("events press --kind made", 2, "usage:"),
        ("events press --last 0", 2, "--last=0"),
        ("events press --last 3 --after 1", 2, "--last with"),
        ("export press out.txt", 2, "must end in"),
        ("export press no/such/out.csv", 1, "No such file"),
        ("export press - --format parquet", 2, "needs a file"),
        ("export press - --json", 2, "--json with -"),
        ("import press none.csv", 2, "no such file"),
        ("delete press", 2, "say --yes"),
        ("create more --definition none.json", 1, "none.json"),
        ("list --db none.db", 1, "none.db"),
        ("list --db text.db", 1, "text.db"),
    ],
)
def test_exit_codes(shell, db, tmp_path, monkeypatch, line, code, said):
    (tmp_path / "text.db").write_text("not a database, but a text of some length\n" * 20)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    shell(f"create press --box 0,1 {QUICK}")
    shell("ask press")
    before = shell("events press --json")
    assert said in shell(line, code)
    assert shell("events press --json") == before


def test_told_twice(shell, db):
    shell(f"create press --box 0,1 {QUICK}")
    shell("ask press")
    shell("tell press 1 0.5")
    assert "told already" in shell("tell press 1 0.6", 4)
    assert [json.loads(line)["y"] for line in shell("events press --kind told --json").splitlines()] == [0.5]


def test_events(shell, db):
    shell(f"create press --box 0,1 {QUICK}")
    for number in range(1, 4):
        shell("ask press")
        shell(f"tell press {number} {number}")
    with Study.open(db, "press") as study:
        records = [record.as_dict() for record in study.events()]
    read = {
        "": records,
        "--after 2": records[2:],
        "--limit 3": records[:3],
        "--after 1 --limit 2": records[1:3],
        "--last 2": records[-2:],
        "--kind told": records[1::2],
        "--kind told --kind asked": records,
        "--resets": [],
    }
    for options, wanted in read.items():
        found = [json.loads(line) for line in shell(f"events press --json {options}").splitlines()]
        assert found == wanted
    assert len(shell("events press").splitlines()) == 6


def test_events_turn_the_page(shell, db, monkeypatch):
    monkeypatch.setattr(events_verb, "PAGE", 2)
    shell(f"create press --box 0,1 {QUICK}")
    for _ in range(5):
        shell("ask press")
    for options, count in (("", 5), ("--limit 3", 3), ("--limit 4", 4)):
        assert len(shell(f"events press {options}").splitlines()) == count


def test_a_reset_is_shown(shell, db):
    kernel = "--kernel rbf --lengthscale 0.3 --option noise_variance=0.001"
    shell(f"create press --box 0,1 --algorithm et-gp-ucb --seed 1 {kernel}")
    for _ in range(4):
        shell("tell press --at '[0.5]' 0.1")
    assert "RESET: " in shell("tell press --at '[0.5]' 50")
    assert "RESET: " in shell("events press --resets")
    assert "step 5" in shell("show press")
    shown = json.loads(shell("show press --json"))
    assert (shown["resets"], shown["reset"]["y"]) == (1, 50.0)
    assert "50" in shell("explain press")
    assert json.loads(shell("explain press --json"))["text"]


def test_export_and_import(shell, db, tmp_path):
    shell(FILTER)
    shell("ask filter")
    shell("tell filter 1 0.5 --metadata '{\"a\": 1}'")
    shell("ask filter")
    assert json.loads(shell("export filter out.jsonl --json")) == {"path": "out.jsonl", "records": 3}
    assert shell("export filter - --format jsonl") == (tmp_path / "out.jsonl").read_text()
    (asked, told, again) = csv.DictReader(io.StringIO(shell("export filter -")))
    assert (asked["kind"], told["y"], again["trial"]) == ("asked", "0.5", "2")
    shell(FILTER.replace("create filter", "create twin"))
    assert json.loads(shell("import twin out.jsonl --json")) == {"observations": 1, "before": 0}
    assert shell("export twin twin.csv") == "twin.csv: 1 record\n"
    assert shell("import twin out.jsonl --again") == "out.jsonl: 1 observation told\n"
    assert shell("export twin twin.csv") == "twin.csv: 2 records\n"
    with Study.open(db, "filter") as study, Study.open(db, "twin") as twin:
        assert twin.events()[0].event == study.events(kinds=["told"])[0].event


def test_predict_from_standard_input(shell, db, monkeypatch):
    shell(f"create press --box 0,1 {QUICK}")
    shell("tell press --at '[0.5]' 2")
    monkeypatch.setattr(sys, "stdin", io.StringIO("[0.5]\n\n[0.25]\n"))
    found = json.loads(shell("predict press - --json"))
    with Study.open(db, "press") as study:
        mean, std = study.predict([[0.5], [0.25]])
    assert found == {"mean": mean.tolist(), "std": std.tolist()}
    assert len(shell("predict press '[0.5]' '[1]'").splitlines()) == 3
    monkeypatch.setattr(sys, "stdin", io.StringIO("[0.5]\n[0.25\n"))
    assert "line 2" in shell("predict press -", 2)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert "there is none" in shell("predict press -", 2)


def test_list(shell, db):
    with Database(db, create=True):
        pass
    assert "no studies in" in shell("list")
    assert json.loads(shell("list --json")) == {"studies": []}
    shell(f"create press --box 0,1 {QUICK}")
    shell("create größe.2 --arms 3 --algorithm random --goal minimize")
    head, *rows = [line.split() for line in shell("list").splitlines()]
    assert head[:3] == ["name", "algorithm", "goal"]
    assert sorted(row[:3] for row in rows) == [
        ["größe.2", "random", "minimize"],
        ["press", "random", "maximize"],
    ]
    with Database(db) as database:
        assert json.loads(shell("list --json")) == {
            "studies": [study.as_dict() for study in database.studies()]
        }


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("width", [40, 80, 120])
def test_a_table_on_a_terminal(shell, db, monkeypatch, width):
    names = ("press", "a-long-name-of-forty-characters-in-all.x")
    for name in names:
        shell(f"create {name} --box 0,1 {QUICK}")
    screen = Terminal()
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr(sys, "stdout", screen)
    listing_verb.run(type("Given", (), {"db": str(db), "json": False}))
    text = re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue())
    assert "\x1b[1m" in screen.getvalue()
    assert max(map(len, text.splitlines())) <= width
    folded = "".join(
        line.split()[0] for line in text.splitlines() if line.strip() and not line.startswith("not")
    )
    for name in names:
        assert name in folded
    left_out = {40: "algorithm, goal, in use, out, failed, last", 80: "goal", 120: None}[width]
    assert (f"for want of room: {left_out}" in " ".join(text.split())) == (left_out is not None)
    assert ("algorithm" in text.splitlines()[0]) == (width > 40)


@pytest.mark.parametrize(
    ("answer", "gone"), [("y\n", True), ("yes\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_delete_asks_on_a_terminal(shell, db, monkeypatch, capsys, answer, gone):
    shell(f"create press --box 0,1 {QUICK}")
    screen = Terminal(answer)
    monkeypatch.setattr(delete_verb.sys, "stdin", screen)
    code = main(["study", "delete", "press"])
    assert "Delete study 'press'" in capsys.readouterr().err
    assert code == (0 if gone else 2)
    monkeypatch.setattr(delete_verb.sys, "stdin", io.StringIO())
    assert ("press" in shell("list")) == (not gone)


def test_delete_in_a_script(shell, db):
    shell(f"create press --box 0,1 {QUICK}")
    assert json.loads(shell("delete press --yes --json")) == {"deleted": "press"}
    assert json.loads(shell("list --json")) == {"studies": []}


def test_another_database(shell, db, tmp_path, monkeypatch):
    shell(f"create press --box 0,1 {QUICK} --db {tmp_path / 'other.db'}")
    assert not db.exists()
    monkeypatch.delenv("WINDVANE_DB")
    shell(f"create press --box 0,1 {QUICK}")
    assert (tmp_path / "windvane.db").exists()


def test_the_help_has_every_verb_and_code(shell, db):
    text = shell("--help")
    for word in VERBS:
        assert f"\n    {word} " in text
        assert "usage: windvane study" in shell(f"{word} --help")
    for code in (0, 1, 2, 3, 4, 130, 141):
        assert f"\n  {code} " in text


def test_interrupted(shell, db, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    shell(f"create press --box 0,1 {QUICK}")
    monkeypatch.setattr(Study, "open", stopped)
    assert shell("ask press", 130) == "windvane: interrupted\n"


def test_without_the_extra(shell, db, monkeypatch):
    def absent(module, extra):
        raise MissingExtra(f"this needs {module}: pip install 'windvane[{extra}]'")

    monkeypatch.setattr(place, "require", absent)
    assert "pip install 'windvane[studies]'" in shell("list", 2)
    monkeypatch.setattr(common, "require", absent)
    assert "pip install 'windvane[studies]'" in shell("show press", 2)


# -- with processes of their own: exit codes, pipes, terminals ---------------------------------------------

COMMAND = f"{shlex.quote(sys.executable)} -m windvane study"


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_a_loop_in_a_shell(shell, db):
    shell(f"create press --box 0,1 0,1 {QUICK}")
    script = f"""
        set -euo pipefail
        for _ in 1 2; do
            read -r trial x1 x2 < <({COMMAND} ask press --format values)
            {COMMAND} tell press "$trial" "$(awk "BEGIN {{print $x1 - $x2}}")" > /dev/null
        done
        {COMMAND} tell press 1 0.5 && exit 99 || exit $?
    """
    found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode == 4, found.stderr
    with Study.open(db, "press") as study:
        told = study.events(kinds=["told"])
    assert [record.trial for record in told] == [1, 2]
    for record in told:
        assert record.y == pytest.approx(record.x[0] - record.x[1], abs=1e-4)


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_whoever_reads_may_go_away(db):
    with Study.create(db, "press", wv.Box([(0, 1)]), "random", seed=0) as study:
        study.add_many([([0.5], 0.5, None, {"text": "x" * 1000})] * 300)  # more than a pipe holds
    script = f'{COMMAND} events press --json | head -n 1 > first.json; echo "${{PIPESTATUS[0]}}"'
    found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert (found.stdout, found.stderr) == ("141\n", "")
    assert json.loads((db.parent / "first.json").read_text())["seq"] == 1


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_output_that_cannot_be_written(db):
    with Study.create(db, "press", wv.Box([(0, 1)]), "random", seed=0):
        pass
    with open("/dev/full", "w") as full:
        found = subprocess.run(
            [sys.executable, "-m", "windvane", "study", "list"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert found.returncode == 1
    assert found.stderr == "windvane: No space left on device\n"


def test_no_colours_in_a_pipe_but_a_table_on_a_terminal(db):
    with Study.create(db, "press", wv.Box([(0, 1)]), "random", seed=0):
        pass
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "windvane", "study", "list"], stdout=theirs) as process:
        os.close(theirs)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:  # how a terminal says that it was closed
            pass
    os.close(ours)
    assert process.returncode == 0
    assert "press" in shown.decode()
    assert "\x1b[1m" in shown.decode()


def test_contexts_in_a_shell(shell):
    shell(f"create mill --param speed=real:0:1 --context load=real:0:100 --context crew=choice:a,b {QUICK}")
    asked = json.loads(shell("ask mill --context load=37 --context crew=b --json"))
    assert (asked["x"]["load"], asked["x"]["crew"]) == (37.0, "b")
    shell("tell mill 1 0.5")
    assert "load=37 crew=b" in shell("best mill --context load=37 --context crew=b")
    assert "context, real, 0 to 100" in shell("show mill")
    assert "--context load=VALUE: is missing" in shell("ask mill", code=2)
    assert "--context crew=VALUE: is missing" in shell("ask mill --context load=37", code=2)
    assert "--context crew=VALUE: is missing" in shell("best mill --context load=37", code=2)
    assert "at most 100" in shell("best mill --context load=137 --context crew=b", code=2)
    assert "must be NAME=VALUE" in shell("ask mill --context load", code=2)
    assert "given twice" in shell("ask mill --context load=1 --context load=2", code=2)


def test_known_noise_and_repeats(shell, db):
    shell(FILTER)
    for _ in range(3):
        shell("ask filter")
    at = '\'{"gain": 1.3, "taps": 4, "mode": "a"}\''
    assert json.loads(shell("tell filter 1 0.5 --std 0.3 --json"))["event"]["told_variance"] == 0.3**2
    assert "y = 0.6, the mean of 3, at gain=" in shell("tell filter 2 0.5 -0.5 1.8 --noise-variance 0.1")
    record = json.loads(shell(f"tell filter --at {at} -1e-05 0.5 --json"))
    assert (record["event"]["values"], record["y"]) == ([-1e-05, 0.5], pytest.approx(0.249995))
    assert "--std" in shell("tell filter 3 0.5 --std 0.1 --noise-variance 0.1", 2)
    assert "std=0.0: must be a finite number above 0" in shell("tell filter 3 0.5 --std 0", 2)
    assert "Y=much" in shell("tell filter 3 0.5 much", 2)
    assert "TRIAL=0.5" in shell("tell filter 0.5 0.7", 2)
    assert "write 3.0" in shell(f"tell filter 3 --at {at} 0.7", 2)
    with Study.open(db, "filter") as study:
        assert study.summary().tells == 3


def test_steps_and_moves_in_the_shell(tmp_path, capsys):
    db = ["--db", str(tmp_path / "moves.db")]
    space = ["--param", "gain=real:0:10", "--param", "flow=real:0:1:step=0.25"]
    options = ["--option", 'max_step={"gain": 0.5}', "--option", "move_cost=0.1", "--seed", "1"]
    assert main(["study", "create", "a", *space, *options, *db]) == 0
    assert "flow: real, 0 to 1 in steps of 0.25" in capsys.readouterr().out
    assert main(["study", "ask", "a", "--json", *db]) == 0
    number = json.loads(capsys.readouterr().out)["number"]
    assert main(["study", "fail", "a", str(number), "alarm", *db]) == 0
    assert main(["study", "ask", "a", "--json", *db]) == 0
    capsys.readouterr()
    assert main(["study", "create", "b", *space, "--option", 'max_step={"gian": 0.5}', *db]) != 0
    assert "max_step: 'gian'" in capsys.readouterr().err


def test_options_are_shown(shell):
    shell(f"create valve --param flow=real:0:80:step=0.5 --option 'max_step={{\"flow\": 4}}' {QUICK}")
    assert re.search(r"^options +max_step: flow=4$", shell("show valve"), re.MULTILINE)
    shell(f"create plain --box 0,1 {QUICK}")
    assert "options" not in shell("show plain")


def test_events_say_what_was_told_of_the_noise(shell):
    shell(f"create plant --box 0,1 {QUICK}")
    shell("tell plant --at '[0.5]' 3 --std 0.5")
    shell("tell plant --at '[0.5]' 2.0 4")
    shell("tell plant --at '[0.5]' 2.0 4 --std 0.25")
    shell("tell plant --at '[0.5]' 7")
    ends = [line.split("y=")[1] for line in shell("events plant --kind told").splitlines()]
    assert ends == ["3 ± 0.5", "3 (mean of 2)", "3 ± 0.25 (mean of 2, ± of each)", "7"]


@pytest.mark.parametrize("moment", ["1e300", "-1e20", "9e999"])
def test_a_study_whose_times_are_none_is_shown(shell, db, moment):
    shell(f"create plant --box 0,1 {QUICK}")
    shell("ask plant")
    shell("tell plant 1 3")
    with sqlite3.connect(db) as connection:
        connection.execute(f"UPDATE windvane_studies SET created = {moment}, last_at = {moment}")
        connection.execute(f"UPDATE windvane_events SET at = {moment}")
    connection.close()
    assert "created no date" in shell("show plant")
    assert "no date" in shell("events plant")
    assert "plant" in shell("list")
    for verb in ("show", "list", "events"):
        shell(f"{verb} {'' if verb == 'list' else 'plant'} --json")


def test_durations_are_whole(shell, db, monkeypatch):
    shell(f"create plant --box 0,1 {QUICK}")
    shell("ask plant --expires-after 86400")
    now = time.time()
    monkeypatch.setattr(words.clocks, "time", lambda: now + 103.0)
    assert "(asked 1 min ago, expires in 23 h)" in shell("show plant")


def test_dates_are_shown_and_missed(shell):
    shell(f"create green --box 0,1 {QUICK}")
    first = shell("tell green --at '[0.5]' 3 --time 2026-03-01T18:00:00+00:00")
    assert "note" not in first
    assert "at 2026-03-01 18:00:00 UTC" in shell("events green")
    said = shell("tell green --at '[0.6]' 4 --time 2026-03-01T19:00:00", code=2)
    assert "--time: '2026-03-01T19:00:00' has no time zone, as 2026-03-01T12:00:00+01:00 has" in said
    then = shell("tell green --at '[0.6]' 4")  # one step later is one second later
    assert "note: without --time, so told as of 2026-03-01 18:00:01 UTC" in then
    shell(f"create plain --box 0,1 {QUICK}")
    assert "note" not in shell("tell plain --at '[0.5]' 3")
    assert " at " not in shell("events plain")


def test_explain_is_broken_between_words_on_a_terminal(shell, monkeypatch):
    shell(f"create plant --box 0,1 {QUICK}")
    shell("tell plant --at '[0.5]' 3")
    piped = shell("explain plant")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "60")
    shown = shell("explain plant")
    assert max(map(len, piped.splitlines())) > 60 >= max(map(len, shown.splitlines()))
    assert shown.split() == piped.split()


def test_explain_does_nothing_to_a_terminal(shell):
    shell(f"create plant --box 0,1 {QUICK}")
    shell("tell plant --at '[0.5]' 3")
    shell("reset plant 'new \x1b[2Jpump\nand more'")
    said = shell("explain plant")
    assert "\x1b" not in said
    assert ": new ?[2Jpump and more. " in said
