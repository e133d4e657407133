"""Which changes of the code make kept runs void, and which do not."""

import ast
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import windvane as wv
from windvane.experiments import code, measures
from windvane.experiments.trial import RunSpec, call
from windvane.surrogates import Mixture
from windvane.triggers import base, believed_change, ruling

GP_ON_JUMPS = ("jumps", "gp-ucb")
RATES = {"r-gp-ucb", "r-gp-ucb-average", "tv-gp-ucb", "tv-gp-ucb-constant", "ui-tvbo"}
NEEDED = {
    **{name: {"rate": 0.03} for name in RATES},
    "r-gp-ucb": {"period": 4},
    "always-n-low": {"period": 4},
    "br-gp-ucb": {"period": 4},
    "sw-gp-ucb": {"window": 4},
    "w-gp-ucb": {"forgetting": 0.9},
    "et-gp-ucb[0.01,0.05]": {"horizon": 100},
    "et-gp-ucb[0.001,0.1]": {"horizon": 100},
}


@pytest.fixture
def edit(monkeypatch, tmp_path):
    """Whether the digest of a run stays the same when a file of the package is edited."""
    package = tmp_path / "windvane"
    shutil.copytree(code.root(), package, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(code, "root", lambda: package)

    def digest(run):
        code.code_digest.cache_clear()
        code._code.cache_clear()
        return code.code_digest(*run)

    def same(place, old, new, run=GP_ON_JUMPS):
        file = package / place
        text = file.read_text() if file.exists() else ""
        assert old in text
        before = digest(run)
        file.write_text(text.replace(old, new, 1))
        return digest(run) == before

    yield same
    code.code_digest.cache_clear()
    code._code.cache_clear()


@pytest.mark.parametrize(
    ("place", "old", "new"),
    [
        ("optimizer.py", "from __future__", "# a comment\n\n\nfrom __future__"),
        ("tasks/jumps.py", '"""A within-model', '"""Described in other words: a within-model'),
        ("tasks/jumps.py", '    """A sample of GP', '    """Described anew, a sample of GP'),
        ("service/app.py", "", "SERVICE = 1\n"),
        ("plots/html.py", "", "PICTURE = 1\n"),
        ("experiments/leaderboard.py", "", "X = 1\n"),
        ("tasks/seasonal.py", "", "X = 1\n"),  # another task
        ("options/auto_model.py", "", "X = 1\n"),  # not its model
    ],
)
def test_what_does_not_matter_changes_nothing(edit, place, old, new):
    assert edit(place, old, new)


@pytest.mark.parametrize(
    ("place", "old", "new"),
    [
        ("options/common.py", "FIRST_LENGTHSCALE = 0.3", "FIRST_LENGTHSCALE = 0.31"),
        ("tasks/jumps.py", "count: int = 2", "count: int = 3"),
        ("tasks/within_model.py", "", "X = 1\n"),  # which jumps builds on
        ("tasks/base.py", "", "X = 1\n"),
        ("tasks/__init__.py", "entry.make(**options)", "entry.make(**{})"),
        ("experiments/measures.py", "trial.seed, steps=steps", "trial.seed + 1, steps=steps"),
        ("simulate.py", "", "X = 1\n"),
    ],
)
def test_what_matters_changes_the_digest(edit, place, old, new):
    assert not edit(place, old, new)


def test_a_new_file_counts_until_it_is_listed(edit):
    assert not edit("novelty.py", "", "X = 1\n")
    assert edit("service/novelty.py", "", "X = 1\n")


@pytest.mark.parametrize(
    ("place", "run", "same"),
    [
        ("surrogates/mixture/tuning.py", ("jumps", "auto"), False),
        ("surrogates/mixture/tuning.py", ("jumps", "mine:Greedy"), False),
        ("surrogates/mixture/tuning.py", (), False),
        ("surrogates/mixture/tuning.py", ("jumps", "gp-ucb"), True),
        ("tasks/seasonal.py", ("jumps", "mine:Greedy"), False),  # which may call whatever it likes
        ("tasks/seasonal.py", (), False),
        ("tasks/seasonal.py", ("seasonal", "gp-ucb"), False),
    ],
)
def test_it_depends_on_the_run(edit, place, run, same):
    assert edit(place, "", "X = 1\n", run) is same


def test_a_task_that_is_made_otherwise_is_another(monkeypatch):
    code.code_digest.cache_clear()
    abrupt, slow = (code.code_digest(name, "gp-ucb") for name in ("deng-abrupt", "deng-slow"))
    assert abrupt != slow  # one file, but not made with the same argument
    code.code_digest.cache_clear()
    monkeypatch.setitem(code.TASKS, "deng-abrupt", code.TASKS["deng-slow"])
    assert code.code_digest("deng-abrupt", "gp-ucb") == slow
    code.code_digest.cache_clear()


def test_only_the_mixtures_are_mixtures():
    for name in wv.algorithms():
        made = wv.make(name, wv.Box([(0, 1)]), seed=0, **NEEDED.get(name, {}))
        assert isinstance(made.model, Mixture) == (name in code.MIXTURES), name


def test_nothing_of_a_mixture_is_imported_from_its_package_but_through_one_door():
    """So that what others know of it are names, for annotations and `isinstance`."""
    found = []
    for file in code.root().rglob("*.py"):
        place = file.relative_to(code.root()).as_posix()
        if place in code.files() and not place.startswith(code.MIXTURE):
            for node in ast.walk(ast.parse(file.read_bytes())):
                module = getattr(node, "module", None) or ""
                if isinstance(node, ast.ImportFrom) and module.startswith("windvane.surrogates.mixture"):
                    found.append(place)
    assert found == ["surrogates/__init__.py"]


def executed(run):
    """The files of the package in which functions run, as `sys.setprofile` sees them."""
    package = str(code.root())
    found = set()

    def seen(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(package) and frame.f_code.co_name != "<module>":
            found.add(Path(name).relative_to(package).as_posix())

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        measures.run(run)
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.parametrize("name", wv.algorithms())
def test_a_run_uses_nothing_that_does_not_count(name):
    """The oracle is the interpreter: the functions that are called while a run lasts."""
    for task in (
        call("jumps", horizon=9, grid=6, count=1),
        call("table", values=((0.0, 1.0), (1.0, 0.5), (0.2, 0.1), (0.3, 0.9), (0.1, 1.1)), train_rows=2),
    ):
        told = ("kernel", "noise_variance") if name.startswith("et-gp-ucb[") else ()
        spec = RunSpec(task, call(name, **NEEDED.get(name, {})), 3, told)
        missing = executed(spec) - set(code.files(task.name, name)) - {"experiments/trial.py", "digits.py"}
        assert not missing, missing


def test_how_numbers_are_written_in_reasons_changes_no_run(monkeypatch):
    """So `digits.py` need not count, though it is called while a run lasts."""
    spec = RunSpec(call("jumps", horizon=60, grid=6, count=2), call("et-gp-ucb-confirmed"), 3, ("kernel",))
    before = measures.run(spec)
    assert len(before["resets"])
    for module, names in (
        (base, ["number"]),
        (ruling, ["estimate", "rounded"]),
        (believed_change, ["number"]),
    ):
        for name in names:
            monkeypatch.setattr(module, name, lambda *_: "so much")
    after = measures.run(spec)
    assert all(np.array_equal(before[name], after[name]) for name in before)
