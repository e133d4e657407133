"""The examples run as they stand, against a real service."""

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs windvane[service]")
pytest.importorskip("uvicorn", reason="needs windvane[service]")
EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory):
    """The environment of an example: a service, and a `windvane` on the path."""
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
