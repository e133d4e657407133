"""The wheel and the source distribution: built, checked, and used where there is no repository. `make dist`

    python bench/dist.py                # into dist/; some minutes, most of it pip's
    python bench/dist.py --out FOLDER

Both are built by `python -m build`, the wheel from the source distribution, and looked at by `twine check`.
Every file of the package has to be in the wheel, and every file of the repository in the source distribution.
Then the wheel is installed into empty environments in a folder of their own: alone, where a few steps have to
work, and with what the demo and the service need, where the commands of the README are run and every file of
the page is asked for.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "windvane"
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet", "install")
TOOLS = ("build", "twine")
ALONE = """
import sys
import windvane as wv
assert "site-packages" in wv.__file__, wv.__file__
opt = wv.make(wv.Space(force=wv.Real(1, 20), dwell=wv.Integer(1, 9)), goal="minimize", seed=0)
for _ in range(12):
    x = opt.ask()
    opt.tell(x, (x["force"] - 7) ** 2 + x["dwell"])
wv.restore(opt.state())
assert not {"sqlalchemy", "matplotlib", "fastapi"} & set(sys.modules)
"""
STUDY = """
import windvane as wv
space = wv.Space(force=wv.Real(1, 20), dwell=wv.Integer(1, 9))
with wv.Study.create("studies.db", "press", space, goal="minimize") as study:
    trial = study.ask()
    event = study.tell(trial, 12.7)
    print(study.explain())
with wv.Study.open("studies.db", "press") as study:
    assert study.summary().tells == 1
"""
SERVICE = """
import json, subprocess, sys, time, urllib.request
from importlib.resources import files
from windvane.client import Client

server = subprocess.Popen([sys.executable, "-m", "windvane", "serve", "--port", "18766"])
address = "http://127.0.0.1:18766"

def get(path):
    with urllib.request.urlopen(address + path, timeout=10) as answer:
        return answer.read()

try:
    for _ in range(150):
        try:
            get("/health")
            break
        except OSError:
            time.sleep(0.2)
    assert b"Windvane" in get("/")
    page = [file.name for file in files("windvane.service").joinpath("dashboard").iterdir() if file.is_file()]
    for name in (*page, "plotly.min.js"):
        assert get("/static/" + name), name
    assert len(page) > 20, page
    assert json.loads(get("/openapi.json"))["info"]["title"]
    get("/ready"), get("/metrics")
    import windvane as wv
    with Client(address) as client:
        study = client.create("plant", wv.Box([(0, 1)]), seed=0)
        study.tell(study.ask(), 0.5)
    print(f"{len(page)} files of the page")
finally:
    server.terminate()
    server.wait()
"""
COMMANDS = (  # as in the README, in this order
    ("--help",),
    ("--version",),
    ("list",),
    ("demo", "--seeds", "2", "--steps", "60", "--out", "out"),
    (
        "study",
        "create",
        "press",
        "--param",
        "force=real:1:20",
        "--param",
        "dwell=integer:1:9",
        "--goal",
        "minimize",
    ),
    ("study", "ask", "press"),
    ("study", "tell", "press", "1", "12.7"),
    ("study", "explain", "press"),
    ("doctor",),
    ("backup", "copy.db"),
)


class Failed(Exception):
    """Something is missing or does not work."""


def run(command: list[str | Path], folder: Path) -> str:
    """What it prints; nothing of the repository is in its way."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "WINDVANE_DB")}
    done = subprocess.run(
        command, cwd=folder, env={**kept, "PYTHONSAFEPATH": "1"}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip())[-2000:]
        raise Failed(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{said}")
    return done.stdout


def environment(folder: Path, *wanted: str | Path, pinned: bool = True) -> Path:
    """The Python of a new environment that has what is wanted and nothing else."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    pins = ("-c", ROOT / "constraints.txt") if pinned else ()
    run([python, *PIP, *pins, *wanted], folder)
    return python


def tracked() -> set[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(listed.stdout.splitlines())


def in_wheel(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def in_sdist(sdist: Path) -> set[str]:
    """Without the folder that everything is in."""
    with tarfile.open(sdist) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def missing(found: set[str], wanted: set[str], where: str) -> None:
    lacking = sorted(wanted - found)
    if lacking:
        raise Failed(f"{where}: {len(lacking)} files are missing: {', '.join(lacking[:5])}, ...")


def build(folder: Path, out: Path) -> Path:
    """Source distribution and wheel, of a copy of what is tracked: nothing that lies about gets into them."""
    files = tracked()
    for name in files:
        (folder / "copy" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / "copy" / name)
    python = environment(folder / "tools", *TOOLS, pinned=False)
    run([python, "-m", "build", "--outdir", folder / "dist", folder / "copy"], folder)
    (wheel,), (sdist,) = (list((folder / "dist").glob(kind)) for kind in ("*.whl", "*.tar.gz"))
    run([python, "-m", "twine", "check", "--strict", wheel, sdist], folder)
    missing(
        in_wheel(wheel), {name.removeprefix("src/") for name in files if name.startswith("src/")}, wheel.name
    )
    missing(in_sdist(sdist), {name for name in files if not name.startswith(".")}, sdist.name)
    out.mkdir(parents=True, exist_ok=True)
    for made in (wheel, sdist):
        shutil.copy2(made, out)
        size = made.stat().st_size / 1e6
        count = len(in_wheel(made) if made == wheel else in_sdist(made))
        print(
            f"{made.name}: {count} files, {size:.1f} MB; twine is content, and nothing is missing", flush=True
        )
    return out / wheel.name


def use(wheel: Path, folder: Path) -> None:
    """Install it where there is no repository, and run what people run."""
    place = folder / "elsewhere"
    place.mkdir()
    alone = environment(folder / "alone", wheel)
    print("the wheel alone: " + _passed([alone, "-c", ALONE], place), flush=True)
    python = environment(folder / "full", f"{wheel}[demo,service]")
    for command in COMMANDS:
        said = _passed([python.with_name("windvane"), *command], place)
        print(f"windvane {' '.join(command)}: {said}", flush=True)
    if not list((place / "out").glob("*.png")):
        raise Failed("windvane demo: no picture")
    print("a study from Python: " + _passed([python, "-c", STUDY], place), flush=True)
    print("windvane serve: " + _passed([python, "-c", SERVICE], place), flush=True)


def _passed(command: list[str | Path], place: Path) -> str:
    lines = run(command, place).strip().splitlines()
    return "works" + (f" ({lines[-1].strip()[:60]})" if lines else "")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where they are left; default: dist")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        try:
            use(build(Path(folder), given.out.resolve()), Path(folder))
        except Failed as failure:
            print(f"FAILS: {failure}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
