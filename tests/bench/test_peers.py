"""The comparison with other optimisers, as far as it goes without them: runs, budget, tables, page."""

import importlib
import json
import math
from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest

import windvane as wv

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def _on_the_path(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))


def part(name):
    return importlib.import_module(f"peers.{name}")


def made_up(peer, task, seed, regret, seconds, steps=200):
    return {
        "peer": peer,
        "task": task,
        "seed": seed,
        "steps": steps,
        "version": "1",
        "regret": [regret] * steps,
        "cpu": [seconds] * steps,
        "wall": [seconds] * steps,
    }


def test_a_run_is_that_of_simulate_and_every_step_is_timed():
    found = part("contest").one_run("et-gp-ucb", "jumps", 6000, 6)
    task = wv.task("jumps", horizon=6, seed=6000)
    trace = wv.simulate(wv.make("et-gp-ucb", task.space, seed=6000), task, seed=6000)
    np.testing.assert_array_equal(found["regret"], trace.regret)
    assert len(found["cpu"]) == len(found["wall"]) == 6
    assert min(found["wall"]) > 0.0
    assert "failed" not in found


def test_all_peers_on_a_task_get_the_same_objective_in_the_same_box():
    contest = part("contest")
    for name, (_, make) in contest.TASKS.items():
        one, two = make(horizon=20, seed=6001), make(horizon=20, seed=6001)
        assert one.space == two.space == wv.Box([(0, 1)] * 2), name
        assert one.optimum(7) == two.optimum(7)
        assert (one.optimum(20) == one.optimum(1)) == (name == "static")


def test_a_run_in_a_process_of_its_own_is_not_made_twice(tmp_path, monkeypatch):
    runs = part("runs")
    plan = [run for run in runs.plan(["random"], 1, 30) if run.task == "drift"]
    said = []
    first = runs.make_all(plan, tmp_path, 1.0, 1, said.append)
    assert len(first) == 1
    assert len(first[0]["regret"]) == 30
    assert said[0].startswith("1/1")

    def never(*_):
        raise AssertionError("started again")

    monkeypatch.setattr(runs, "start", never)
    assert runs.make_all(plan, tmp_path, 1.0, 1, said.append) == first


def test_runs_of_windvane_are_made_again_when_it_has_changed(tmp_path):
    """Those of others are kept: they depend on their own version."""
    runs = part("runs")
    plan = [run for run in runs.plan(["random", "et-gp-ucb"], 1, 6) if run.task == "drift"]
    first = runs.make_all(plan, tmp_path, 1.0, 1, lambda _: None)
    for run in plan:
        stored = run.stored(tmp_path)
        assert stored["stamp"].startswith("Computed by Windvane")
        stored["stamp"] = "Computed by Windvane 0.1.0, commit 0123, code 4567."
        run.file(tmp_path).write_text(json.dumps(stored))
    said = []
    second = runs.make_all(plan, tmp_path, 1.0, 1, said.append)
    assert [line.split()[3] for line in said if "/" in line] == ["et-gp-ucb"]
    assert [run["regret"] for run in first] == [run["regret"] for run in second]
    assert [run["stamp"].endswith("4567.") for run in second] == [run["peer"] == "random" for run in second]


def test_a_package_that_is_missing_is_a_row_that_says_so(monkeypatch):
    contest, table, page = part("contest"), part("table"), part("page")

    def missing(_):
        raise PackageNotFoundError("smac")

    monkeypatch.setattr("peers.Peer.version", missing)
    found = contest.one_run("smac", "drift", 6000, 30)
    assert found["failed"].startswith("not installed")
    text = page.section(table.summarise(["smac"], [found], 30))
    assert "| SMAC | failed, see below | 0 |" in text
    assert "**SMAC**, drift, seed 6000: not installed" in text


def test_who_crashes_says_where(monkeypatch):
    contest = part("contest")

    class Breaks:
        def ask(self):
            return [0.5, 0.5]

        def tell(self, x, y):
            raise ValueError("no\n more")

    monkeypatch.setattr("peers.Peer.make", lambda *_: Breaks())
    found = contest.one_run("random", "drift", 6000, 30)
    assert found["failed"] == "at step 1: ValueError: no more"


def test_the_budget_counts_what_is_on_disk_and_what_comes_next():
    runs = part("runs")
    budget = runs.Budget(10.0)
    run = runs.Run("w-dbo", "drift", 6000, 200)
    assert budget.allows(run)
    budget.add(run, {"cpu": [120.0, 120.0]})
    assert budget.allows(run)
    budget.add(run, {"cpu": [240.0]})
    assert not budget.allows(runs.Run("w-dbo", "jumps", 6000, 200))
    assert budget.allows(runs.Run("ax", "jumps", 6000, 200))


def test_peers_take_turns_and_a_slow_one_has_one_task_a_seed():
    order = [(run.seed, run.task, run.peer) for run in part("runs").plan(["auto", "ax", "random"], 8, 200)]
    assert order[:5] == [
        (6000, "drift", "auto"),
        (6000, "drift", "ax"),
        (6000, "drift", "random"),
        (6000, "jumps", "auto"),
        (6000, "jumps", "random"),
    ]
    slow = [(task, seed) for seed, task, peer in order if peer == "ax"]
    assert [task for task, _ in slow] == ["drift", "jumps", "seasons", "static"] * 2
    assert len(order) == len(set(order)) == 8 * 4 * 2 + 8


def test_ratios_are_over_the_seeds_that_both_have():
    table = part("table")
    found = [
        made_up("auto", task, seed, 1.0 + seed - 6000, 0.01)
        for task in part("contest").TASKS
        for seed in (6000, 6001)
    ]
    found += [made_up("ax", task, 6001, 4.0, 0.05) for task in ("drift", "jumps", "static")]
    rows = table.summarise(["auto", "ax"], found, 200)["peers"]
    assert rows["auto"]["regret"]["drift"]["mean"] == pytest.approx(1.5)
    assert rows["auto"]["regret"]["drift"]["error"] == pytest.approx(math.sqrt(0.5) / math.sqrt(2.0))
    assert rows["auto"]["changing"] == pytest.approx(1.0)
    assert rows["ax"]["regret"]["drift"]["ratio"] == pytest.approx(2.0)
    assert rows["ax"]["regret"]["drift"]["error"] is None
    assert rows["ax"]["changing"] is None  # no run on seasons
    assert rows["ax"]["static"] == pytest.approx(2.0)
    assert rows["ax"]["time_ratio"] == pytest.approx(5.0)
    assert rows["ax"]["ms"] == pytest.approx({"50": 50.0, "100": 50.0, "200": 50.0})


def test_the_page_says_who_is_ahead_and_keeps_the_rest(tmp_path):
    table, page, figure = part("table"), part("page"), part("figure")
    tasks = list(part("contest").TASKS)
    found = [made_up("auto", task, 6000, 1.0, 0.01) for task in tasks]
    found += [made_up("w-dbo", task, 6000, 0.5 if task == "drift" else 2.0, 3.0) for task in tasks]
    found += [made_up("random", task, 6000, 3.0, 0.001) for task in tasks]
    summary = json.loads(json.dumps(table.summarise(["auto", "w-dbo", "random"], found, 200)))
    text = page.section(summary)
    assert "Less regret than `auto` on **drift**: W-DBO, its authors' (0.50)." in text
    assert "Less regret than `auto` on **static**: nobody." in text
    assert "Less time per step than `auto`: random points." in text
    file = tmp_path / "page.md"
    file.write_text(
        "before\n<!-- peers: begin -->\nstale words\n<!-- peers: end -->\nafter\n", encoding="utf-8"
    )
    page.replace(file, "peers", text)
    page.replace(file, "peers", text)
    new = file.read_text(encoding="utf-8")
    assert new.startswith("before\n<!-- peers: begin -->")
    assert new.endswith("<!-- peers: end -->\nafter\n")
    assert "stale words" not in new
    assert new.count("### Time per step") == 1
    with pytest.raises(SystemExit, match="one pair of marks"):
        page.replace(file, "botorch", text)
    assert len(figure.scatter(summary).axes) == 2
    assert len(figure.curves(summary).axes) == 4


def test_on_tasks_that_are_named_slow_peers_are_run_with_every_seed():
    order = [(run.seed, run.task, run.peer) for run in part("runs").plan(["auto", "ax"], 2, 200, ["seasons"])]
    first = part("contest").FIRST_SEED
    assert order == [(first + s, "seasons", peer) for s in range(2) for peer in ("auto", "ax")]


def test_runs_of_others_go_along_with_the_page_and_are_taken_up_where_they_are_missing(tmp_path):
    kept, runs = part("kept"), part("runs")
    folder, other, file = tmp_path / "runs", tmp_path / "elsewhere", tmp_path / "evidence" / "peers.jsonl.gz"
    folder.mkdir()
    whole = [made_up("optuna-gp", "drift", 6000, 1 / 3, 0.1), made_up("auto", "drift", 6000, 0.5, 0.1)]
    short = made_up("optuna-gp", "drift", 6001, 1.0, 0.1, steps=30)
    failed = {"peer": "ax", "task": "drift", "seed": 6000, "steps": 200, "failed": "no"}
    for number, run in enumerate([*whole, short, failed]):
        (folder / f"{number}.json").write_text(json.dumps(run))
    assert kept.keep(file, folder, runs.lasting) == 1
    first = file.read_bytes()
    assert kept.keep(file, folder, runs.lasting) == 1
    assert file.read_bytes() == first
    assert kept.take_up(file, other) == 1
    assert kept.take_up(file, other) == 0
    again = json.loads((other / "0.json").read_text())
    assert again["regret"] == [0.3333333] * 200
    assert "wall" not in again
    assert kept.take_up(tmp_path / "none.gz", other) == 0


def test_runs_of_a_peer_in_another_version_are_made_again(monkeypatch):
    runs = part("runs")
    found = {"peer": "optuna-gp", "version": "4.0"}
    monkeypatch.setattr(type(runs.PEERS["optuna-gp"]), "version", lambda _: "5.0")
    assert runs.outdated(found)
    assert not runs.outdated(found | {"version": "5.0"})


def test_seconds_of_two_machines_are_not_compared():
    summarise = part("table").summarise
    here, there = {"host": "here"}, {"host": "there"}
    found = [
        made_up("auto", "drift", 6000, 1.0, 0.01) | here,
        made_up("auto", "drift", 6001, 1.0, 0.01) | here,
        made_up("optuna-gp", "drift", 6000, 2.0, 0.02) | here,
        made_up("optuna-gp", "drift", 6001, 4.0, 9.0) | there,
        made_up("smac", "drift", 6000, 4.0, 9.0) | there,
    ]
    rows = summarise(["auto", "optuna-gp", "smac"], found, 200)["peers"]
    assert rows["optuna-gp"]["time_ratio"] == pytest.approx(2.0)
    assert rows["optuna-gp"]["regret"]["drift"]["ratio"] == pytest.approx(3.0)
    assert (rows["optuna-gp"]["timed"], rows["smac"]["timed"]) == (1, 0)
    assert rows["smac"]["time_ratio"] is None
