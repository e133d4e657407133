"""What `import windvane` brings with it: NumPy and nothing that is slow, and the extras only when they are used."""

import json
import subprocess
import sys

import pytest

HEAVY = (
    "scipy.linalg",
    "scipy.optimize",
    "scipy.special",
    "scipy.stats",
    "matplotlib",
    "torch",
    "optuna",
    "sqlalchemy",
)
LOADED = "import json, sys; print(json.dumps(sorted(sys.modules)))"
HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hidden())
"""


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def loaded_after(code):
    result = run(f"{code}\n{LOADED}")
    assert result.returncode == 0, result.stderr
    return set(json.loads(result.stdout))


def test_importing_windvane_waits_for_numpy_only():
    loaded = loaded_after("import windvane")
    assert "numpy" in loaded
    assert not loaded & set(HEAVY)


def test_the_client_needs_none_of_it():
    assert not loaded_after("import windvane.client") & set(HEAVY)


def test_a_whole_step_needs_no_extra_and_no_scipy_stats():
    code = "import windvane as wv; opt = wv.make(wv.Box([(0, 1)] * 3), seed=0); opt.tell(opt.ask(), 1.0)"
    loaded = loaded_after(code)
    assert "scipy.linalg" in loaded
    assert not loaded & {"scipy.stats", "matplotlib", "torch", "optuna", "sqlalchemy"}


@pytest.mark.parametrize(
    ("code", "hidden", "extra"),
    [
        ("windvane.Study", ["sqlalchemy"], "studies"),
        ("import windvane.integrations.optuna", ["optuna"], "optuna"),
        ("import windvane.integrations.botorch", ["torch", "botorch", "gpytorch"], "botorch"),
        ("import windvane.integrations.gest", ["gest_api"], "gest"),
        (
            "import windvane.plots\n"
            "opt = windvane.make(windvane.Box([(0, 1)]))\n"
            "windvane.plots.trigger([opt.tell(opt.ask(), 1.0) for _ in range(3)])",
            ["matplotlib"],
            "plots",
        ),
        (
            "from windvane.cli import main; import sys; sys.argv[1:] = ['demo']; sys.exit(main())",
            ["matplotlib", "rich"],
            "demo",
        ),
        (
            "from windvane.cli import main; import sys; sys.argv[1:] = ['serve']; sys.exit(main())",
            ["fastapi", "uvicorn", "sqlalchemy"],
            "service",
        ),
    ],
    ids=["study", "optuna", "botorch", "gest", "plots", "demo", "serve"],
)
def test_a_missing_extra_says_which_to_install(code, hidden, extra):
    result = run(f"{HIDE.format(hidden=hidden)}\nimport windvane\n{code}")
    assert result.returncode != 0
    assert f"pip install 'windvane[{extra}]'" in result.stderr, result.stderr


def test_a_star_import_needs_numpy_and_scipy_only():
    hidden = ["sqlalchemy", "matplotlib", "pandas", "pyarrow", "rich", "torch", "optuna", "fastapi"]
    result = run(f"{HIDE.format(hidden=hidden)}\nfrom windvane import *\nprint(make(Box([(0, 1)])).step)")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "1\n"


def test_the_names_of_windvane_can_be_listed_and_include_study():
    loaded = loaded_after("import windvane; assert 'Study' in dir(windvane) and 'Box' in dir(windvane)")
    assert "sqlalchemy" not in loaded
