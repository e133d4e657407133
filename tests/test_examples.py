"""The examples run as they stand: some against a real service, the others by themselves with --short."""

import os
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.request
from collections import OrderedDict
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.signal import cont2discrete, lfilter
from scripts import script

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory):
    """The environment of an example: a service, and a `windvane` on the path."""
    pytest.importorskip("fastapi", reason="needs windvane[service]")
    pytest.importorskip("uvicorn", reason="needs windvane[service]")
    folder = tmp_path_factory.mktemp("examples")
    (folder / "windvane").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m windvane "$@"\n', encoding="utf-8"
    )
    (folder / "windvane").chmod(0o755)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    found = {
        **os.environ,
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "WINDVANE_URL": f"http://127.0.0.1:{port}",
        "WINDVANE_DB": str(folder / "studies.db"),
        "OPENBLAS_NUM_THREADS": "1",
    }
    found.pop("WINDVANE_TOKEN", None)
    log = folder / "log.txt"
    with log.open("wb") as out:
        command = [sys.executable, "-m", "windvane", "serve", "--port", str(port)]
        process = subprocess.Popen(command, env=found, stdout=out, stderr=out)
    try:
        until = time.monotonic() + 60
        while True:
            try:
                urllib.request.urlopen(f"{found['WINDVANE_URL']}/health", timeout=5).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > until:
                    pytest.fail(f"windvane serve did not come up:\n{log.read_text(encoding='utf-8')}")
                time.sleep(0.1)
        yield found
    finally:
        process.terminate()
        process.wait(30)


def run(surroundings, program, name, *arguments):
    tool = program if program == sys.executable else shutil.which(program)
    if tool is None:
        pytest.skip(f"{program} is not installed")
    done = subprocess.run(
        [tool, str(EXAMPLES / name), *arguments],
        env=surroundings,
        cwd=Path(surroundings["WINDVANE_DB"]).parent,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


def test_curl(surroundings):
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    out = run(surroundings, "sh", "curl.sh")
    trials = re.findall(r"^trial (\d): x = (\S+), y = (\S+)$", out, re.MULTILINE)
    assert [number for number, _, _ in trials] == ["1", "2", "3", "4", "5"]
    for _, x, y in trials:
        assert float(y) == pytest.approx(1 - (float(x) - 0.3) ** 2, abs=1e-5)
    assert 'believed best: {"x":[' in out


def test_a_shell_loop(surroundings):
    out = run(surroundings, "bash", "loop.sh", "loop", "1")
    assert out.startswith("step 1: y = ")
    assert len(out.splitlines()) == 2


def node_is_new_enough():
    if shutil.which("node") is None:
        return False
    said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    return int(re.match(r"v(\d+)|", said)[1] or 0) >= 18


@pytest.mark.skipif(not node_is_new_enough(), reason="node 18 or newer is not installed")
def test_node(surroundings):
    check_the_jump(run(surroundings, "node", "node.mjs", "40"))


def test_python_client(surroundings):
    out = run(surroundings, sys.executable, "python_client.py", "40")
    check_the_jump(out)
    assert "The last reset was at step 21" in out


def check_the_jump(out):
    """The plant jumps after step 20: heard of at once over the stream, and the optimum was found again."""
    (step,) = re.findall(r"^reset at step (\d+): ", out, re.MULTILINE)
    assert int(step) == 21
    assert abs(float(re.search(r"gain = ([\d.]+)", out)[1]) - 0.7) < 0.05


def test_the_examples_leave_nothing_behind(surroundings):
    """After the others: only the loop's study is kept, in the database that the service shares here."""
    with urllib.request.urlopen(f"{surroundings['WINDVANE_URL']}/v1/studies", timeout=5) as answer:
        assert re.findall(r'"name":"([^"]+)","algorithm"', answer.read().decode()) in ([], ["loop"])


def test_every_example_is_listed_and_tested():
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    here = Path(__file__).read_text(encoding="utf-8")
    for file in EXAMPLES.iterdir():
        if file.suffix in (".sh", ".mjs", ".py"):
            assert f"({file.name})" in listed
            assert f'"{file.name}"' in here


def load(name):
    return script(f"examples/{name}")


def alone(folder, name, picture):
    """What an example prints with --short in an empty folder, as figures by name, once its picture is checked."""
    image = pytest.importorskip("matplotlib.image", reason="needs windvane[plots]")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / name), "--short", "--out", "pictures"],
        cwd=folder,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*.*")] == [f"pictures/{picture}"]
    pixels = image.imread(folder / "pictures" / picture)
    assert pixels.shape[0] > 500
    assert len(np.unique(pixels.reshape(-1, pixels.shape[-1]), axis=0)) > 100  # a picture, not a blank sheet
    found = re.findall(r"^(\S+) +((?: *-?\d+\.?\d*)+) +resets", done.stdout, re.MULTILINE)
    return {contestant: [float(figure) for figure in figures.split()] for contestant, figures in found}


def test_wearing_pid(tmp_path):
    costs = alone(tmp_path, "wearing_pid.py", "wearing-pid.png")
    assert list(costs) == ["fixed", "gp-ucb", "et-gp-ucb", "auto", "oracle"]
    for name, (whole, new, worn, overhauled) in costs.items():
        assert whole == pytest.approx((10 * new + 10 * worn + 8 * overhauled) / 28, abs=0.02)
        assert whole >= costs["oracle"][0], name  # nobody beats the one who knows the drive
    assert costs["oracle"][0] > 0.3


def test_changing_demand(tmp_path):
    lost = alone(tmp_path, "changing_demand.py", "changing-demand.png")
    assert list(lost) == ["fixed", "gp-ucb", "et-gp-ucb", "auto"]
    assert all(figure >= 0 for figures in lost.values() for figure in figures)
    whole, before, after = lost["fixed"]
    assert whole == pytest.approx((before + after) / 2, abs=1)
    assert before < 10 < after  # the best price of the first day, until the rival comes


def test_cache_under_load(tmp_path):
    times = alone(tmp_path, "cache_under_load.py", "cache-under-load.png")
    assert list(times) == ["fixed", "gp-ucb", "et-gp-ucb", "auto", "auto+load", "retuned"]
    for whole, *phases in times.values():
        assert len(phases) == 4
        assert min(phases) > 0
        mean = np.exp(np.log(phases).mean())
        rounding = 0.05 + mean * np.mean(0.05 / np.array(phases))  # all of them are printed with one decimal
        assert whole == pytest.approx(mean, abs=rounding)


def test_keep_cool(tmp_path):
    found = alone(tmp_path, "keep_cool.py", "keep-cool.png")
    assert list(found) == ["fixed", "auto", "soft", "safe", "safe+hall"]
    assert found["fixed"][0] == 0.0
    for name, (share, hottest, earned, paid) in found.items():
        assert hottest >= 90.0 if share else (hottest <= 90.0 and paid == earned), name
    assert found["safe"][0] < found["auto"][0]


@pytest.mark.parametrize("dead", [0, 3])
def test_the_drive_without_friction_is_the_linear_loop(dead):
    """P control of strength / (s (s + drag)) through a zero-order hold, by SciPy."""
    drive = load("drive.py")
    kp = np.array([0.5, 2.0, 6.0])
    quiet, plant = np.zeros(drive.SAMPLES), drive.Drive(2.0, 1.5, 0.0, dead)
    positions, signals = drive.respond((kp, 0 * kp, 0 * kp), plant, quiet, load=0.0)
    numerator, denominator, _ = cont2discrete(([2.0], [1.0, 1.5, 0.0]), drive.STEP, method="zoh")
    forward, zeros = numerator.ravel(), [0.0] * dead
    for case, gain in enumerate(kp):
        closed = np.array([*denominator, *zeros]) + gain * np.array([*zeros, *forward])
        step = lfilter(gain * np.array([*zeros, *forward]), closed, np.ones(drive.SAMPLES + 1))
        np.testing.assert_allclose(positions[:, case], step[1:], atol=1e-9)
        np.testing.assert_allclose(signals[:, case], gain * (1 - step[:-1]), atol=1e-9)


def test_the_drive_under_load_friction_and_noise():
    drive = load("drive.py")
    quiet, kp = np.zeros(drive.SAMPLES), np.array([4.0])
    plant = drive.Drive(5.0, 4.0, 0.0, 0)
    positions, _ = drive.respond((kp, 0 * kp, 0 * kp), plant, quiet, load=2.0)
    assert positions[-1, 0] == pytest.approx(1 - 2.0 / (5.0 * 4.0), abs=2e-3)  # short by load / (strength kp)
    integral, _ = drive.respond((kp, 2 * kp, 0 * kp), plant, quiet, load=2.0)
    assert abs(integral[-1, 0] - 1) < abs(positions[-1, 0] - 1) / 2
    stuck, _ = drive.respond((kp, 0 * kp, 0 * kp), drive.Drive(5.0, 4.0, 20.1, 0), quiet, load=0.0)
    assert (stuck == 0).all()  # 5 * 4 pushes, 20.1 holds
    spent = [drive.cost((kp, kp, kp), drive.aged(0.5), np.random.default_rng(seed))[0] for seed in (0, 0, 1)]
    assert spent[0] == spent[1] != spent[2]


def test_the_best_price_is_the_best():
    demand = load("changing_demand.py")
    for day in (0, 91, demand.ENTRY - 1, demand.ENTRY, 539):
        found = minimize_scalar(
            lambda price, day=day: -(price - demand.UNIT_COST) * demand.share(price, day),
            bounds=(25, 80),
            method="bounded",
            options={"xatol": 1e-9},
        )
        assert demand.best_price(day) == pytest.approx(found.x, abs=1e-4)
    assert demand.best_price(demand.ENTRY) < demand.best_price(demand.ENTRY - 1) - 4


def test_what_is_counted_tells_the_loads_apart():
    server = load("cache_server.py")
    for seed in range(3):
        lookups, runs, scans = (server.run_length(name, seed) for name in ("lookups", "runs", "scans"))
        assert lookups < 2 < 5 < runs < 40 < scans


class Counting:
    """A database connection that counts its queries and the rows they fetched."""

    def __init__(self, path):
        self.database, self.queries, self.rows = sqlite3.connect(path), 0, 0

    def execute(self, *query):
        found = self.database.execute(*query).fetchall()
        self.queries, self.rows = self.queries + 1, self.rows + len(found)
        return found


def test_the_cache_is_right_and_its_trade_off_is_real(tmp_path):
    """Not by the clock: by the queries made and the rows fetched for 3,000 requests."""
    server = load("cache_server.py")
    path = tmp_path / "rows.db"
    server.fill(path)
    work = {}
    for kind in server.LOADS:
        for ahead in (1, 64):
            database, cache = Counting(path), OrderedDict()
            wanted = server.requests(kind, random.Random(0))
            for _ in range(3000):
                row = next(wanted)
                body = server.read(database, cache, row, ahead)
                assert len(cache) <= server.CAPACITY
            ((expected,),) = database.database.execute("SELECT body FROM item WHERE id = ?", (row,))
            assert body == expected
            database.database.close()
            work[kind, ahead] = (database.queries, database.rows)
    assert work["lookups", 64][1] > 20 * work["lookups", 1][1]  # reading ahead fetches rows in vain
    assert work["scans", 64][0] < work["scans", 1][0] / 5  # and saves queries
    process = server.start(path)
    assert server.measure(process, "runs", 8, 0, 0.01) > 0
    process.communicate()
    assert process.returncode == 0


def test_the_examples_stay_short():
    for file in EXAMPLES.glob("*.py"):
        assert len(file.read_text(encoding="utf-8").splitlines()) < 100, file.name


def test_the_pictures_and_pages_of_the_list_are_there():
    for target in re.findall(r"\]\(([^)#]+)", (EXAMPLES / "README.md").read_text(encoding="utf-8")):
        assert (EXAMPLES / target).is_file(), target
