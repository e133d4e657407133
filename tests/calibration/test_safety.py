"""`wv.calibrate_safety`: worlds with the right law, runs that anyone can repeat, and a report that counts."""

import json
import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import windvane as wv
from windvane.calibration import SafetyRow, safety_runs
from windvane.calibration.safety_runs import Quantity, SafetyLuck, SafetyPlan, World, clock, safety_run
from windvane.cli.main import main
from windvane.errors import InvalidArgument, WindvaneError
from windvane.theory.proportion import wilson

LINE = wv.Box([(0, 1)])
KERNEL = wv.RBF(0.2)
LIMIT = wv.AtMost(0.5, kernel=KERNEL, noise_variance=0.01)
TOLD = {"kernel": KERNEL, "noise_variance": 0.01}
SMALL = {"safe": (0.8, 0.95), "steps": 10, "runs": 4}


def plan(**changed):
    optimizer = wv.make(LINE, constraints={"g": LIMIT}, safe=0.9, start=[[0.5]], seed=0, **TOLD)
    of = Quantity(KERNEL, 0.0, 0.01)
    made = {
        "space": LINE,
        "goal": "maximize",
        "contestants": (optimizer.composition,),
        "objective": of,
        "constraints": (("g", LIMIT, of),),
        "start": ((0.5,),),
        "margin": 0.5,
        "rate": 0.1,
        "jumps": (0.0,),
        "jump_at": 3,
        "steps": 6,
        "seed": 0,
    }
    return SafetyPlan(**{**made, **changed})


# -- worlds ------------------------------------------------------------------------------------------------


def test_worlds_drift_and_jump_as_the_markov_chain_does():
    rate, jump, at, runs = 0.2, 0.5, 4, 3000
    of = plan(rate=rate, jump_at=at, margin=0.0, constraints=())
    points = np.array([[0.3], [0.45]])
    seen = np.empty((runs, 6))
    for run in range(runs):
        world = World(of, SafetyLuck(of, run), jump)
        seen[run] = [world.at(points[step % 2], step)[0] for step in range(1, 7)]
    found = np.cov(seen.T)
    kernel, rates = KERNEL.matrix(points, points), [0.0, rate, rate, 1 - (1 - rate) * (1 - jump), rate, rate]
    for s in range(6):
        for t in range(s, 6):
            left = math.prod(math.sqrt(1 - eps) for eps in rates[s + 1 : t + 1])
            expected = left * kernel[(s + 1) % 2, (t + 1) % 2]
            assert found[s, t] == pytest.approx(expected, abs=0.1)


def test_the_clock_of_a_jump_that_leaves_nothing():
    assert np.exp(-clock(0.0, 1.0, 3, 3)) == 0.0
    assert clock(0.0, 1.0, 3, 2) == 0.0


def test_the_starts_keep_their_margin_and_have_the_law_of_what_is_left():
    of = plan(start=((0.5,), (0.6,)), margin=0.5)
    first = []
    for run in range(600):
        world = World(of, SafetyLuck(of, run), 0.0)
        _, there = world.at(np.array([0.6]), 1)
        _, here = world.at(np.array([0.5]), 1)
        assert LIMIT.margin(there["g"]) >= 0.5 - 1e-9
        assert LIMIT.margin(here["g"]) >= 0.5 - 1e-9
        first.append(here["g"])
    rng = np.random.default_rng(0)
    pairs = rng.multivariate_normal(
        [0, 0], KERNEL.matrix(np.array([[0.5], [0.6]]), np.array([[0.5], [0.6]])), 40000
    )
    kept = pairs[(pairs <= 0.0).all(axis=1)]
    assert np.mean(first) == pytest.approx(kept[:, 0].mean(), abs=0.1)
    assert np.std(first) == pytest.approx(kept[:, 0].std(), abs=0.1)


def test_a_start_that_cannot_be_safe_is_named(monkeypatch):
    monkeypatch.setattr(safety_runs, "TRIES", 20)
    with pytest.raises(InvalidArgument, match="start, margin: in 20 draws"):
        SafetyLuck(plan(margin=30.0), 0)


def test_a_run_counts_what_truly_violates():
    of = plan(steps=12, rate=0.3)
    for run in range(4):
        found = safety_run(of, run)
        luck = SafetyLuck(of, run)
        world = World(of, luck, 0.0)
        opt = wv.make(LINE, constraints={"g": LIMIT}, safe=0.9, start=[[0.5]], seed=luck.seed, **TOLD)
        broken, values = [], []
        for step in range(1, 13):
            x = opt.ask()
            f, outcomes = world.at(LINE.encode(x), step)
            if outcomes["g"] > 0.5:
                broken.append(step)
            noise, noises = world.noises(step)
            values.append(f)
            opt.tell(x, f + noise, g=outcomes["g"] + noises["g"])
        assert found.violations == ((tuple(broken),),)
        assert found.gains[0][0] == pytest.approx(np.mean(values))


# -- the report --------------------------------------------------------------------------------------------


def test_told_the_truth_it_keeps_what_it_promises_and_caution_costs():
    report = wv.calibrate_safety(
        LINE, constraints={"g": LIMIT}, safe=(0.6, 0.95), steps=25, runs=12, rate=0.02, jobs=1, **TOLD
    )
    bold, careful = report.rows
    assert careful.share - careful.share_error <= 0.05
    assert careful.share < bold.share
    assert not report.assumed
    assert "Assumed" not in str(report)


def test_where_more_changes_more_is_violated():
    still = wv.calibrate_safety(LINE, constraints={"g": LIMIT}, safe=0.9, steps=20, runs=8, **TOLD)
    moved = wv.calibrate_safety(
        LINE, constraints={"g": LIMIT}, safe=0.9, steps=20, runs=8, jumps=(1.0,), jump_at=11, **TOLD
    )
    assert moved.row(0.9).violations == still.row(0.9).violations  # the same world, but for the jump
    assert moved.row(0.9, 1.0).share > still.row(0.9).share
    before = [tuple(step for step in run if step < 11) for run in moved.row(0.9, 1.0).violations]
    assert before == [tuple(step for step in run if step < 11) for run in still.row(0.9).violations]


def test_it_is_the_same_with_any_number_of_jobs_and_says_how_far_it_is():
    asked = {"constraints": {"g": wv.AtMost(0)}, **SMALL}
    told = []
    alone = wv.calibrate_safety(LINE, **asked, on_progress=lambda done, total: told.append((done, total)))
    with ThreadPoolExecutor(2) as pool:
        assert wv.calibrate_safety(LINE, **asked, jobs=pool).as_dict() == alone.as_dict()
    assert told == [(done, 4) for done in range(5)]


def test_what_is_assumed_is_said():
    text = str(wv.calibrate_safety(LINE, constraints={"heat": wv.AtMost(90, unit="°C")}, **SMALL))
    assert "heat <= 90 °C (kernel Matern52(lengthscale=(0.3,), variance=1.0), noise variance 0.01)" in text
    assert "Assumed: heat has the kernel Matern52" in text
    assert "Assumed: the objective has a noise variance of 0.01" in text
    truth = {"heat": wv.AtMost(90, kernel=wv.RBF(0.4, 25.0), noise_variance=0.5)}
    report = wv.calibrate_safety(LINE, constraints={"heat": wv.AtMost(90)}, true_constraints=truth, **SMALL)
    assert "kernel RBF(lengthscale=(0.4,), variance=25.0), noise variance 0.5" in str(report)
    assert not any("heat" in text for text in report.assumed)


@pytest.mark.parametrize(
    ("space", "start"),
    [
        (wv.Space(gain=wv.Real(0.1, 10, log=True), mode=wv.Choice(["a", "b"])), [{"gain": 1.0, "mode": "b"}]),
        (wv.Arms(5), [2]),
        (wv.Arms(5), None),
    ],
)
@pytest.mark.parametrize("goal", ["maximize", "minimize"])
def test_any_space(space, start, goal):
    kernel = wv.Empirical(np.eye(5) + 0.5) if isinstance(space, wv.Arms) else wv.RBF(0.3)
    limit = {"g": wv.AtLeast(-1.0, kernel=kernel, noise_variance=0.01)}
    report = wv.calibrate_safety(
        space, constraints=limit, start=start, goal=goal, true_kernel=kernel, steps=5, runs=2, safe=[0.9]
    )
    assert len(report.rows[0].violations) == 2


def row(safe, counts, jump=0.0, steps=10):
    violations = tuple(tuple(range(1, count + 1)) for count in counts)
    return SafetyRow(safe, jump, violations, np.linspace(0.0, 1.0, len(counts)), steps)


def report_of(*rows):
    return wv.SafetyCalibration("auto", "a line", (), rows, 0.0, 6, 0.5, 10, 4, 0)


def test_the_figures_of_a_row():
    found = row(0.9, [0, 1, 0, 4])
    assert found.share == pytest.approx(5 / 40)
    assert found.share_error == pytest.approx(1.959964 * np.std([0, 0.1, 0, 0.4], ddof=1) / 2)
    assert found.any == 0.5
    assert found.any_interval == wilson(2, 4, 0.95)
    assert found.worst == 4
    assert found.gain == 0.5


def test_a_level_is_chosen_for_the_worst_of_the_jumps():
    report = report_of(
        row(0.9, [1, 1, 1, 1]),
        row(0.9, [2, 2, 2, 2], 1.0),
        row(0.99, [0, 0, 0, 1]),
        row(0.99, [1, 1, 1, 1], 1.0),
    )
    assert report.choose(0.2) == 0.9
    assert report.choose(0.15) == 0.99
    with pytest.raises(
        InvalidArgument, match=r"no level keeps to it; the least is 10.0% of points, with safe=0.99"
    ):
        report.choose(0.05)
    with pytest.raises(InvalidArgument, match=r"must be one of \(0.9, 0\)"):
        report.row(0.7)


def test_text_data_and_picture():
    report = report_of(row(0.9, [0, 1, 0, 4]), row(0.9, [1, 1, 1, 1], 0.5))
    text = str(report)
    assert "12.5% ± " in text
    assert "4 of 10" in text
    assert "A jump of size s" in text
    assert "<table" in report._repr_html_()
    plain = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert plain["rows"][0]["violations"] == [[], [1], [], [1, 2, 3, 4]]
    assert plain["summary"] == report.records()
    pytest.importorskip("matplotlib")
    assert len(report.plot().axes) == 1


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"safe": (0.9, 0.9)}, "each level once"),
        ({"safe": (0.3,)}, "safe=0.3"),
        ({"rate": 2.0}, "rate=2.0"),
        ({"jumps": (0.0,)}, "jumps=0.0"),
        ({"runs": 1}, "runs=1"),
        ({"steps": 1}, "steps=1"),
        ({"margin": -1.0}, "margin=-1.0"),
        ({"constraints": {}}, "constraints="),
        ({"jobs": 0}, "jobs=0"),
        ({"on_progress": 3}, "on_progress=3"),
        ({"start": [[2.0]]}, r"start\[0\]"),
        ({"true_constraints": {"h": wv.AtMost(0)}}, "true_constraints: has h"),
        ({"true_constraints": {"g": wv.AtMost(1)}}, "only kernel and noise_variance may differ"),
        ({"true_kernel": wv.Empirical(np.eye(3))}, "the objective: "),
        ({"space": wv.Arms(3)}, "needs a kernel to be drawn from"),
        ({"space": wv.Space(x=wv.Real(0, 1), load=wv.Context(0, 1))}, "has contexts"),
        ({"space": 3}, "space=3"),
    ],
)
def test_bad_input_is_named(changed, said):
    asked = {"space": LINE, "constraints": {"g": wv.AtMost(0)}, **SMALL, **changed}
    with pytest.raises(WindvaneError, match=said):
        wv.calibrate_safety(asked.pop("space"), **asked)


# -- the shell ---------------------------------------------------------------------------------------------

SHELL = ("calibrate", "--dim", "1", "--steps", "6", "--runs", "2", "--jobs", "1")


def test_the_shell_asks_the_same(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    command = [*SHELL, "--safe", "0.8", "0.9", "--constraint", "heat<=0.5 K", "--rate", "0.1", "--jumps", "1"]
    assert main([*command, "--margin", "0.2", "--told", "--json", "--out", str(tmp_path)]) == 0
    found = json.loads(capsys.readouterr().out)
    told = {"kernel": wv.RBF([0.2]), "noise_variance": 0.02}
    limit = wv.AtMost(0.5, unit="K", **told)
    report = wv.calibrate_safety(
        LINE,
        constraints={"heat": limit},
        safe=(0.8, 0.9),
        rate=0.1,
        jumps=[1.0],
        margin=0.2,
        steps=6,
        runs=2,
        **told,
    )
    assert found == report.as_dict()
    assert (tmp_path / "calibration.csv").read_text().startswith("safe,jump,points_violating")
    assert {path.name for path in tmp_path.iterdir()} >= {"calibration.txt", "calibration.json", "figure.png"}


def test_the_shell_lets_auto_learn_and_recommends(capsys):
    assert main([*SHELL, "--safe", "--allow", "1"]) == 0
    shown = capsys.readouterr().out
    assert "auto on" in shown
    assert "g <= 0" in shown
    assert "safe 0.9" in shown


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rate", "0.1"), "--rate: belongs to --safe"),
        (("--constraint", "g<=0"), "--constraint: belongs to --safe"),
        (("--safe", "--trigger", "e-detector"), "--trigger: does not go with --safe"),
        (("--safe", "0.9", "--deltas", "0.1"), "--deltas: does not go with --safe"),
        (("--safe", "--constraint", "g"), '"heat<=90 °C"'),
        (("--safe", "0.2"), "safe=0.2"),
    ],
)
def test_the_shell_names_mistakes(capsys, arguments, said):
    assert main([*SHELL, *arguments]) == 2
    assert said in capsys.readouterr().err
