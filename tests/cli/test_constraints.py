"""Constraints in a shell."""

import json

import pytest
from shell import reader

import windvane as wv
from windvane.study import Study

MADE = """create oven --param power=real:0:10 --constraint "heat<=90 °C" --constraint "purity>=0.8"
    --safe 0.95 --start '{"power": 2}' --seed 1"""


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("WINDVANE_DB", str(tmp_path / "studies.db"))

    return reader(capsys)


@pytest.fixture
def shell(command):
    return lambda line, code=0: command(f"study {line}", code)


def test_from_the_beginning_to_an_explanation(shell, tmp_path):
    said = shell(MADE)
    assert "  heat <= 90 °C\n  purity >= 0.8\n" in said
    assert "with a probability of 0.95" in said
    assert "power=2" in shell("ask oven")
    said = shell("tell oven 1 2 --outcome heat=78 --outcome purity=0.93")
    assert "heat = 78 °C: within its limit, <= 90 °C; expected" in said
    said = shell("tell oven --at '{\"power\": 9}' 2 --outcome heat=98.5")
    assert "heat = 98.5 °C: BEYOND ITS LIMIT, <= 90 °C" in said
    assert "purity" not in said
    assert shell("events oven --violations").endswith("heat=98.5 °C!\n")
    assert "heat=78 °C  purity=0.93\n" in shell("events oven --kind told")
    shown = shell("show oven")
    assert "constraints heat <= 90 °C\n" in shown
    assert "options     start: power=2\n" in shown
    assert "violations  1, last at step 2\n" in shown
    assert "heat must be at most 90 °C." in shell("explain oven")
    assert "all constraints hold with probability" in shell("best oven")
    assert json.loads(shell("best oven --json"))["feasible"] > 0.5
    assert "heat holds" in shell("predict oven '{\"power\": 3}' --of heat")
    with Study.open(tmp_path / "studies.db", "oven") as study:
        mean, _ = study.predict([{"power": 3}], of="heat")
        assert json.loads(shell("predict oven '{\"power\": 3}' --of heat --json"))["mean"] == mean.tolist()
        assert study.constraints == {"heat": wv.AtMost(90, unit="°C"), "purity": wv.AtLeast(0.8)}
        assert study.optimizer.safe == 0.95


def test_values_are_put_right(shell):
    shell(MADE)
    shell("ask oven")
    shell("tell oven 1 2 --outcome heat=98")
    seq = json.loads(shell("tell oven --at '{\"power\": 3}' 2.5 --outcome heat=80 --json"))["seq"]
    assert "trial 1: heat = 88 °C, which was 98 °C; " in shell("correct oven 1 --outcome heat=88")
    assert "trial 1: y = 2.25, which was 2; heat = not measured, which was 88 °C; " in shell(
        "correct oven 1 2.25 --outcome heat=none"
    )
    assert f"record {seq}: y = 2.75, which was 2.5; " in shell(f"correct oven --record {seq} 2.75")
    assert f"record {seq}: purity = 0.9, which was not measured; " in shell(
        f"correct oven --record {seq} --outcome purity=0.9"
    )
    assert "did you mean 'heat'" in shell("correct oven 1 --outcome heta=1", 2)
    assert "did you mean 'heat'" in shell("predict oven '{\"power\": 3}' --of heta", 2)
    assert "needs Y, the right value, or --outcome" in shell("correct oven 1", 2)
    assert "Y=high: must be a number" in shell("correct oven 1 high", 2)
    assert "TRIAL=one: must be a whole number" in shell("correct oven one 1.0", 2)


def test_an_export_is_imported_again(shell, tmp_path):
    shell(MADE)
    for heat in (80, 91, 85):
        shell(f"tell oven --at '{{\"power\": 3}}' 2.5 --outcome heat={heat}")
    for kind in ("csv", "jsonl", "parquet"):
        path = tmp_path / f"out.{kind}"
        shell(f"export oven {path}")
        shell(MADE.replace("oven", f"from-{kind}"))
        shell(f"import from-{kind} {path}")
        heats = [
            json.loads(line)["event"]["outcomes"]["heat"]["value"]
            for line in shell(f"events from-{kind} --json").splitlines()
        ]
        assert heats == [80.0, 91.0, 85.0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ('--constraint "heat<90"', "<= or >="),
        ('--constraint "heat<=hot"', "<= or >="),
        ('--constraint "heat<=90" --constraint "heat<=91"', "heat is given twice"),
        ('--constraint "time<=90"', "'time' has another meaning"),
        ('--constraint "heat<=90" --safe 0.9', "--safe: needs a setting"),
        ("--safe 0.9 --start '{\"power\": 2}'", "--safe: is about constraints"),
        ('--constraint "heat<=90" --start \'{"power": 2}\'', "--start: is where --safe begins"),
        ('--constraint "heat<=90" --safe 0.9 --start \'{"power": 20}\'', "start[0]"),
        ('--constraint "heat<=90" --safe 0.9 --start power=2', "--start power=2: is not JSON"),
        ('--constraint "heat<=90" --safe 1.5 --start \'{"power": 2}\'', "--safe=1.5"),
        ('--constraint "heat<=90" --option \'constraints={"heat": {"at_most": 90}}\'', "give one of the two"),
    ],
)
def test_what_cannot_work_is_said(shell, tmp_path, options, words):
    assert words in shell(f"create oven --param power=real:0:10 {options}", 2)
    assert not (tmp_path / "studies.db").exists()


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--outcome heat", "must be NAME=VALUE"),
        ("--outcome heat=nan", "must be a finite number"),
        ("--outcome heat=hot", "must be a finite number"),
        ("--outcome heat=none", "leave out what was not measured"),
        ("--outcome heat=1 --outcome heat=2", "heat is given twice"),
        ("--outcome heta=1", "--outcome: outcomes='heta': unknown; did you mean 'heat'"),
    ],
)
def test_what_cannot_be_told(shell, option, words):
    shell(MADE)
    line = f"tell oven --at '{{\"power\": 3}}' 2.5 {option}"
    assert words in shell(line, 2)
    assert shell("events oven") == ""


def test_a_definition_from_a_file(shell, tmp_path):
    definition = {
        "space": {"parameters": {"power": {"real": [0, 10]}}},
        "options": {
            "constraints": {"heat": {"at_most": 90, "unit": "°C"}},
            "safe": 0.9,
            "start": [{"power": 2}],
        },
    }
    path = tmp_path / "oven.json"
    path.write_text(json.dumps(definition))
    assert "heat <= 90 °C" in shell(f"create oven --definition {path}")
    assert "power=2" in shell("ask oven")
    assert "--constraint with --definition" in shell(
        f'create b --definition {path} --constraint "heat<=1"', 2
    )


def test_webhooks_on_violations(command):
    assert "webhook 1 for violations of every study" in command(
        "webhook add http://127.0.0.1:9/ --on violation"
    )
    assert "webhook 2 for resets and violations of every" in command("webhook add http://127.0.0.1:9/")
    assert [hook["on"] for hook in json.loads(command("webhook list --json"))] == [
        ["violation"],
        ["reset", "violation"],
    ]


def test_the_options_are_listed(command):
    for option in ("constraints", "safe", "start"):
        assert option in command(f"list --options {option}")
    assert "unknown" in command("bench --algorithms auto:constraints=3 --runs 1", 2)
