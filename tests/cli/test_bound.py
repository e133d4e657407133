"""`windvane bound`: what it prints is what the theory computes."""

import json

import pytest
import shell

from windvane import theory
from windvane.experiments.regret_bounds import BoundProblem, assumption3


def run(capsys, *arguments):
    return shell.run(capsys, "bound", *arguments)


def test_json(capsys):
    code, out, err = run(capsys, "--rate", "0.03", "--rates", "0.01", "0.05", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert found["window"] == list(theory.reset_window((0.01, 0.05), 400)) == [26, 38]
    constants = assumption3("rbf", 0.2, 2)
    assert found["beta"] == theory.theorem1_beta(400, 0.1, 2, constants.a1, constants.b1, 1.0)
    assert found["gamma"]["upper"] == theory.gain_upper_bound(found["gamma"]["greedy"])
    assert sum(found["theorem1"].values()) == pytest.approx(found["total"])
    order = theory.corollary1_order(0.03, 400, 0.01 / 0.03, 0.05 / 0.03)
    assert found["corollary1"]["exploration"] == order.exploration
    assert found["corollary1"]["largest"] == order.largest
    assert found["sublinear_below"] == theory.sublinear_region(400, 0.01 / 0.03, 0.05 / 0.03)
    assert found["vacuous"] is True
    assert found["trivial"] == BoundProblem.of(rates=(0.01, 0.05)).trivial()


def test_tables_and_files(capsys, tmp_path):
    out_folder = tmp_path / "new" / "folder"
    code, out, err = run(capsys, "--rates", "0.01", "0.05", "--horizon", "80", "--out", str(out_folder))
    assert (code, err) == (0, "")
    for text in (
        "[26, 38]",
        "beta_T",
        "exploration",
        "trivial bound",
        "VACUOUS",
        "Sub-linear",
        "Corollary 1",
    ):
        assert text in out
    assert "VACUOUS" in (out_folder / "bound.md").read_text()
    assert json.loads((out_folder / "bound.json").read_text())["window"] == [26, 38]
    assert (out_folder / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert (out_folder / "figure.pdf").read_bytes().startswith(b"%PDF")


def test_options_reach_the_problem(capsys):
    code, out, _ = run(
        capsys, "--kernel", "matern52", "--dim", "3", "--lengthscale", "0.5", "--noise-variance", "0.1",
        "--delta", "0.2", "--horizon", "50", "--a0", "2", "--b0", "3", "--a1", "4", "--b1", "5", "--json",
    )  # fmt: skip
    problem = json.loads(out)["problem"]
    assert code == 0
    assert problem["constants"] == {"a0": 2.0, "b0": 3.0, "a1": 4.0, "b1": 5.0}
    assert (problem["kernel"], problem["dim"], problem["lengthscale"]) == ("matern52", 3, 0.5)
    assert (problem["noise_variance"], problem["delta"], problem["horizon"]) == (0.1, 0.2, 50)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--kernel", "matern32"), "nu > 2"),
        (("--rate", "2"), "rate=2"),
        (("--rates", "0.1", "0.2"), "must enclose the rate"),
        (("--horizon", "0"), "horizon=0"),
        (("--delta", "nan"), "delta=nan"),
        (("--dim", "x"), "invalid int value"),
    ],
)
def test_mistakes(capsys, arguments, says):
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert says in err


def test_a_folder_that_cannot_be_written(capsys, tmp_path):
    (tmp_path / "taken").write_text("")
    code, _, err = run(capsys, "--horizon", "20", "--out", str(tmp_path / "taken"))
    assert code == 2
    assert "choose a folder you can write to" in err
