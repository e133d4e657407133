"""Each extra in an empty environment of its own: what it brings, and whether what it is for works with it.

    python bench/extras.py                  # all of them: some minutes, most of it pip's
    python bench/extras.py --only core plots

Of the core alone also: that NumPy and SciPy are all it brings, and how long `import windvane` takes.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STEP = """
import windvane as wv
import windvane.plots
opt = wv.make(wv.Box([(0, 1)]), seed=0)
events = [opt.tell(opt.ask(), 1.0) for _ in range(12)]
"""
STUDY = (
    "import windvane as wv\n"
    "with wv.Study.create('s.db', 'press', wv.Space(force=wv.Real(1, 20)), goal='minimize') as study:\n"
    "    study.tell(study.ask(), 12.7)\n"
)
SERVICE = """
import subprocess, sys, time, urllib.request
server = subprocess.Popen([sys.executable, "-m", "windvane", "serve", "--port", "18765"])
try:
    for _ in range(150):
        try:
            page = urllib.request.urlopen("http://127.0.0.1:18765/", timeout=1).read()
            break
        except OSError:
            time.sleep(0.2)
    assert b"Windvane" in page
finally:
    server.terminate()
    server.wait()
"""
OPTUNA = """
import optuna
from windvane.integrations.optuna import WindvaneSampler, best_now
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.create_study(sampler=WindvaneSampler(seed=0))
study.optimize(lambda trial: trial.suggest_float("x", 0, 1) ** 2, n_trials=15)
assert best_now(study).params["x"] < 0.3
"""
BOTORCH = "from windvane.integrations.botorch import EventTriggeredLoop"
GEST = """
from gest_api.vocs import VOCS
from windvane.integrations.gest import WindvaneGenerator
generator = WindvaneGenerator(VOCS(variables={"x": [0, 1]}, objectives={"f": "MINIMIZE"}), seed=0)
for _ in range(15):
    generator.ingest([point | {"f": point["x"] ** 2} for point in generator.suggest(1)])
assert generator.best().x["x"] < 0.3
"""
POSTGRES = """
import windvane as wv
try:
    wv.Study.open("postgresql://nobody@127.0.0.1:1/none", "press")
except wv.WindvaneError as error:
    assert "127.0.0.1" in str(error), error
else:
    raise AssertionError("no server, and no error")
"""
PARQUET = """
import pyarrow, pyarrow.parquet, windvane as wv
pyarrow.parquet.write_table(pyarrow.table({"x": [0.1, 0.4, 0.9], "y": [1.0, 2.0, 1.5]}), "log.parquet")
space = wv.Space(x=wv.Real(0, 1))
found = wv.replay("log.parquet", "random", space, seed=0)
assert len(found["random"].events) == 3
"""
DASK = """
from distributed import LocalCluster
if __name__ == "__main__":
    import subprocess, sys
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        subprocess.run([sys.executable, "-m", "windvane", "reproduce", "table1", "--quick", "--dask",
                        cluster.scheduler_address, "--out", "out"], check=True)
"""


def shell(*arguments: str, module: str = "windvane") -> str:
    """A program that calls a command of the environment it runs in."""
    return (
        f"import subprocess, sys\narguments = {arguments!r}\n"
        f"sys.exit(subprocess.run([sys.executable, '-m', {module!r}, *arguments], check=False).returncode)"
    )


CHECKS = {  # what each extra is for, as a program
    "core": STEP,
    "plots": STEP + "wv.plots.trigger(events).savefig('trigger.png')",
    "demo": shell("demo", "--seeds", "2", "--steps", "40", "--out", "out"),
    "experiments": shell("reproduce", "lemma3", "--quick", "--out", "out"),
    "dask": DASK,
    "studies": STUDY,
    "parquet": PARQUET,
    "postgres": POSTGRES,
    "service": SERVICE,
    "optuna": OPTUNA,
    "botorch": BOTORCH,
    "gest": GEST,
    "stocks": "import skfolio.datasets",
    "testing": "from windvane.testing import StudySuite, TriggerSuite; import windvane.testing.machine",
    "docs": shell("build", "--strict", "-q", "-f", str(ROOT / "mkdocs.yml"), module="mkdocs"),
}
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")


def packages(python: Path) -> set[str]:
    code = "from importlib.metadata import distributions as all; print(*{d.metadata['Name'] for d in all()})"
    listed = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return set(listed.stdout.lower().split())


def import_time(python: Path) -> float:
    """The least of ten, in seconds, less what an empty program takes."""

    def least(code: str) -> float:
        times = []
        for _ in range(10):
            start = time.perf_counter()
            subprocess.run([python, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return min(times)

    return least("import windvane") - least("pass")


def check(extra: str, folder: Path) -> str:
    venv.create(folder / "env", with_pip=True)
    python = folder / "env" / "bin" / "python"
    before = packages(python)
    if extra == "botorch":
        subprocess.run([python, *PIP, "install", "torch==2.13.0"], check=True)
    wanted = f"{ROOT}" if extra == "core" else f"{ROOT}[{extra}]"
    subprocess.run([python, *PIP, "install", "-c", ROOT / "constraints.txt", wanted], check=True)
    brought = packages(python) - before - {"windvane"}
    (folder / "program.py").write_text(CHECKS[extra])
    done = subprocess.run([python, "program.py"], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"FAILS: {(done.stderr.strip() or done.stdout.strip()).splitlines()[-1]}"
    if extra != "core":
        return f"works; {len(brought)} packages"
    if brought != {"numpy", "scipy"}:
        return f"FAILS: brings {sorted(brought)}"
    return f"works; numpy and scipy, nothing else; imported in {import_time(python):.2f} s"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS), metavar="EXTRA")
    failed = 0
    for extra in parser.parse_args().only:
        with tempfile.TemporaryDirectory() as folder:
            verdict = check(extra, Path(folder))
        failed += verdict.startswith("FAILS")
        print(f"{extra:12} {verdict}", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
