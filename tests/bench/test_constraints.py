"""The comparison under limits, as far as it goes without other packages: statistics, records, tables, a run."""

import importlib
import json
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


def made_up(rival, seed, regret, violated, jumps=(), world="jumps", seconds=0.01):
    return {
        "world": world,
        "rival": rival,
        "seed": seed,
        "steps": len(regret),
        "regret": regret,
        "value": [1.0 - each for each in regret],
        "violated": violated,
        "cpu": [seconds] * len(regret),
        "jumps": list(jumps),
        "retreats": 0,
    }


def test_intervals_are_paired_by_seed():
    intervals = part("intervals")
    theirs = np.random.default_rng(1).uniform(1.0, 9.0, 40)
    assert intervals.ratio(theirs / 2.0, theirs) == pytest.approx((0.5, 0.5, 0.5))
    assert intervals.difference(theirs - 1.0, theirs) == pytest.approx((-1.0, -1.0, -1.0))
    middle, low, high = intervals.mean(theirs)
    assert middle == pytest.approx(theirs.mean())
    error = theirs.std() / np.sqrt(40)
    assert (high - low) / 2 == pytest.approx(1.96 * error, rel=0.05)


def test_nothing_over_nothing_is_not_a_number():
    intervals = part("intervals")
    assert np.isnan(intervals.ratio(np.zeros(3), np.zeros(3))).all()
    assert np.isnan(intervals.mean(np.zeros(0))).all()


def test_what_is_in_the_file_is_not_made_again(tmp_path):
    lines, file = part("lines"), tmp_path / "new" / "runs.jsonl"
    kept = lines.Lines(file, ("rival", "seed"))
    jobs = [{"rival": rival, "seed": seed} for seed in (1, 2) for rival in ("a", "b")]
    assert kept.missing(jobs) == jobs
    kept.add({**jobs[1], "regret": [0.1]})
    again = lines.Lines(file, ("rival", "seed"))
    assert again.missing(jobs) == [jobs[0], *jobs[2:]]
    assert again.of(jobs) == [{**jobs[1], "regret": [0.1]}]


def test_rows_of_another_version_can_be_forgotten(tmp_path):
    lines, file = part("lines"), tmp_path / "runs.jsonl"
    kept = lines.Lines(file, ("rival", "seed"))
    for rival in ("a", "b"):
        kept.add({"rival": rival, "seed": 1})
    kept.forget(lambda row: row["rival"] == "a")
    kept.add({"rival": "a", "seed": 2})
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert rows == [{"rival": "b", "seed": 1}, {"rival": "a", "seed": 2}]
    assert list(kept.rows.values()) == rows


def test_a_line_that_was_cut_short_is_made_again_and_spoils_no_other(tmp_path):
    lines, file = part("lines"), tmp_path / "runs.jsonl"
    whole = {"seed": 1, "regret": [0.1]}
    file.write_text(json.dumps(whole) + "\n" + '{"seed": 2, "regr', encoding="utf-8")
    kept = lines.Lines(file, ("seed",))
    assert kept.missing([{"seed": 1}, {"seed": 2}]) == [{"seed": 2}]
    kept.add({"seed": 2, "regret": [0.2]})
    kept.add({"seed": 3, "regret": [0.3]})
    assert sorted(row["seed"] for row in lines.Lines(file, ("seed",)).rows.values()) == [1, 2, 3]


def test_figures_of_a_run():
    table = part("limits_table")
    run = made_up("auto", 1, [0.5, -0.2, 0.3, 0.1], [0, 1, 1, 0], jumps=[3])
    assert table.share(run) == 0.5
    assert table.within(run) == 0.5
    assert table.share_but_first(run) == pytest.approx(1 / 3)
    assert table.feasible_regret(run) == pytest.approx(0.3)
    assert table.regret(run) == pytest.approx(0.175)
    assert table.simple_regret(run) == 0.1
    assert table.milliseconds(run) == pytest.approx(10.0)
    never = made_up("auto", 1, [0.5, 0.2], [1, 1])
    assert np.isnan(table.feasible_regret(never))
    assert np.isnan(table.simple_regret(never))


def test_the_table_is_of_the_seeds_that_all_have():
    table = part("limits_table")
    runs = [made_up("auto safe", seed, [0.1] * 4, [0, 0, 0, 1]) for seed in (1, 2, 3)]
    runs += [made_up("auto", seed, [0.2] * 4, [1, 1, 0, 0]) for seed in (1, 2)]
    assert table.common(runs, "jumps", ["auto", "auto safe"]) == [1, 2]
    text = table.table("changing", runs, ["drift", "jumps"], ["auto", "auto safe"], "auto safe")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len(rows) == 6
    assert {line.count("|") for line in rows} == {rows[0].count("|")}
    assert rows[2].startswith("| drift | `auto`, which knows of no limit | 0 |  |")
    assert "| jumps | `auto`, which knows of no limit | 2 | 50.0 (50.0 to 50.0) |" in rows[4]
    assert rows[4].endswith("| -25.0 (-25.0 to -25.0) | 0.50 (0.50 to 0.50) |")
    assert rows[5].endswith("|  |  |")


def test_a_rival_without_runs_is_a_row_that_says_so():
    table = part("limits_table")
    runs = [made_up("auto", seed, [0.2] * 4, [1, 1, 0, 0]) for seed in (1, 2)]
    text = table.table("changing", runs, ["jumps"], ["auto", "auto safe"], "auto safe")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[2].startswith("| jumps | `auto`, which knows of no limit | 2 | 50.0")
    assert rows[3].startswith("|  | `auto` with constraints, `safe=0.95` | 0 |  |")


def test_a_run_without_a_step_within_the_limits_does_not_spoil_the_comparison():
    table = part("limits_table")
    ours, theirs = np.array([1.0, np.nan, 3.0]), np.array([2.0, 5.0, 6.0])
    assert table.paired(ours, theirs, part("intervals").ratio) == pytest.approx((0.5, 0.5, 0.5))


def test_what_limits_cost_is_a_ratio_run_by_run():
    runs = [
        {"seed": 1, "steps": 3, "none": [1e-3] * 3, "soft": [2e-3] * 3, "safe": [3e-3] * 3},
        {"seed": 2, "steps": 3, "none": [2e-3] * 3, "soft": [4e-3] * 3, "safe": [8e-3] * 3},
    ]
    text = part("limits_table").cost_table(runs)
    assert "| soft | 3.00 | 2.00 (2.00 to 2.00) |" in text
    assert "| safe | 5.50 | 3.50 (3.00 to 4.00) |" in text


def test_the_line_knows_its_best_place_within_the_limit():
    for seed in range(5):
        line = part("limits").Line(horizon=9, seed=seed)
        limit = line.constraints["g1"]
        points = np.linspace(0.0, 1.0, 2_001)[:, None]
        allowed = [x for x in points if limit.met(line.outcomes(x, 1)["g1"])]
        assert len(allowed) >= 1_000 - 5
        best = max(line.value(x, 1) for x in allowed)
        assert best <= line.optimum(1) + 1e-12
        assert best == pytest.approx(line.optimum(1), abs=0.02)
        assert limit.margin(line.outcomes(line.start[0], 1)["g1"]) >= 0.5


def test_all_rivals_have_the_same_noise_and_only_who_has_constraints_is_told_of_them():
    limits = part("limits")

    class Still:
        def __init__(self, constraints):
            self.constraints, self.told = constraints, []

        def ask(self):
            return np.array([0.3])

        def tell(self, x, y, **outcomes):
            self.told.append((y, outcomes))

    task = limits.Line(horizon=6, seed=4)
    knows, knows_not = Still(task.constraints), Still({})
    beyond = not task.constraints["g1"].met(task.outcomes([0.3], 1)["g1"])
    for rival in (knows, knows_not):
        found = limits.played(rival, task, seed=4)
        assert found["violated"] == [int(beyond)] * 6
        assert found["value"] == pytest.approx([task.value([0.3], 1)] * 6, rel=1e-5)
        assert found["regret"] == pytest.approx([task.optimum(1) - task.value([0.3], 1)] * 6, rel=1e-5)
        assert len(found["cpu"]) == 6
    assert [y for y, _ in knows.told] == [y for y, _ in knows_not.told]
    assert all(list(outcomes) == ["g1"] for _, outcomes in knows.told)
    assert all(outcomes == {} for _, outcomes in knows_not.told)


def test_a_run_is_that_of_simulate():
    limits = part("limits")
    found = limits.run("jumps", "auto", 5, 8)
    task = wv.task("guarded-jumps", horizon=8, seed=5)
    trace = wv.simulate(wv.make(task.space, seed=5), task, seed=5)
    assert found["regret"] == pytest.approx(trace.regret, rel=1e-6)
    assert found["violated"] == trace.violated.tolist()
    assert found["jumps"] == list(task.steps)
    assert min(found["cpu"]) > 0.0


def test_what_limits_cost_is_measured_in_turns(monkeypatch):
    limits, order = part("limits"), []

    class Noted:
        def __init__(self, name, constraints):
            self.name, self.constraints = name, constraints

        def ask(self):
            order.append(self.name)
            return np.array([0.2, 0.7])

        def tell(self, x, y, **outcomes):
            assert set(outcomes) == set(self.constraints)

    modes = {
        "none": lambda task, seed: Noted("none", {}),
        "soft": lambda task, seed: Noted("soft", task.constraints),
        "safe": lambda task, seed: Noted("safe", task.constraints),
    }
    monkeypatch.setattr(limits, "MODES", modes)
    found = limits.cost(3, 6)
    assert {name: len(found[name]) for name in modes} == {"none": 6, "soft": 6, "safe": 6}
    rounds = [order[at : at + 3] for at in range(0, 18, 3)]
    assert all(sorted(each) == ["none", "safe", "soft"] for each in rounds)
    assert {each[0] for each in rounds} == set(modes)


def test_every_part_names_worlds_and_rivals_that_exist():
    limits, script = part("limits"), importlib.import_module("constraints")
    for name, each in script.PARTS.items():
        assert set(each.worlds) <= set(limits.WORLDS), name
        assert set(each.rivals) <= set(limits.RIVALS), name
        assert each.ours in each.rivals or not each.rivals
    seeds = [set(range(each.first, each.first + each.seeds)) for each in script.PARTS.values()]
    assert len(set.union(*seeds)) == sum(map(len, seeds))


def test_runs_go_on_where_they_were(tmp_path, monkeypatch, capsys):
    script = importlib.import_module("constraints")
    arguments = ["constraints.py", "changing", "--quick", "--rivals", "auto", "--worlds", "drift"]
    monkeypatch.setattr("sys.argv", [*arguments, "--out", str(tmp_path)])
    with (tmp_path / "changing.jsonl").open("w", encoding="utf-8") as out:
        for seed in (1, 2):
            run = made_up("auto", seed, [0.5] * 20, [0] * 20, world="drift")
            out.write(json.dumps(run) + "\n")
    script.main()
    said = capsys.readouterr()
    assert "| drift | `auto`, which knows of no limit | 2 | 0.0 (0.0 to 0.0) |" in said.out
    assert said.err == ""


@pytest.mark.parametrize("seed", [20014, 20024])
def test_a_world_in_which_only_the_lowest_place_keeps_the_margin_has_a_start(seed):
    limits = part("limits")
    task = limits.Line(60, seed)
    [limit] = task.constraints.values()
    assert task.outcomes(task.start[0], 1)["g1"] <= limit.limit - limits.MARGIN + 1e-12
