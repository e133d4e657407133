"""`make evidence`, killed with -9 and started again: what was finished is not computed a second time."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, {tools!r})
import evidence
evidence.ROOT = Path.cwd()
evidence.SECTIONS = {{}}
command = (Path(sys.executable).name, "-m", "windvane", "reproduce", "window-regret", "--runs", "2", "--jobs", "1",
           "--out", "out", "--markdown", "docs/page.md")
evidence.PAGES = (evidence.ReproductionPage("docs/page.md", command, 0.1),)
sys.argv = ["evidence", "--run"]
evidence.main()
"""
PATIENCE = 120.0  # seconds
HELD_UP = """
import time
from windvane.experiments.store import Store
put, count = Store.put, 0

def hold(*args, **named):
    global count
    put(*args, **named)
    args[0].flush()
    count += 1
    if count == 5:
        time.sleep(1000)

Store.put = hold
"""  # what Python imports by the name of sitecustomize: the command stops after five runs, until it is interrupted


def kept(folder):
    """The finished runs on disk, each with the row that it has; a run that is made again has another row."""
    file = folder / "out" / "runs.sqlite"
    if not file.exists():
        return {}
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30.0) as database:
        try:
            return dict(database.execute("SELECT key, rowid FROM runs"))
        except sqlite3.OperationalError:  # it is being made
            return {}


def started(folder, *path):
    driver = DRIVER.format(tools=str(ROOT / "docs" / "tools"))
    return subprocess.Popen(
        [sys.executable, "-c", driver],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (*path, ROOT / "src"))),
            "OPENBLAS_NUM_THREADS": "1",
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=ignore_interrupts,
    )


def ignore_interrupts():
    """As what runs in the background of a shell does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def wait_until(true):
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a command outlives the one that started it")
def test_nothing_is_computed_twice(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("nothing yet\n")
    (tmp_path / "held").mkdir()
    (tmp_path / "held" / "sitecustomize.py").write_text(HELD_UP)
    first = started(tmp_path, tmp_path / "held")
    try:
        wait_until(lambda: len(kept(tmp_path)) >= 5 or first.poll() is not None)
        first.kill()  # this process alone: its command and the workers have to notice
        first.wait()
        wait_until(lambda: not alive(first.pid))
    finally:
        if alive(first.pid):
            os.killpg(first.pid, signal.SIGKILL)
        first.stdout.close()
    before = kept(tmp_path)
    assert len(before) == 5
    second = started(tmp_path)
    said, _ = second.communicate(timeout=PATIENCE)
    assert second.returncode == 0, said
    after = kept(tmp_path)
    assert len(after) > len(before)
    assert {key: after[key] for key in before} == before
    assert "Computed by Windvane" in (tmp_path / "docs" / "page.md").read_text()
    third = started(tmp_path)
    said, _ = third.communicate(timeout=PATIENCE)
    assert "docs/page.md, Fig. 2 (right) (window-regret), 2 of 2 runs per cell: up to date" in said
    assert kept(tmp_path) == after
    for file in (tmp_path / "out").glob("runs.sqlite*"):
        file.unlink()
    (tmp_path / "docs" / "page.md").write_text("lost\n")
    fourth = started(tmp_path)  # as in a fresh clone, which has what is kept beside the page and no runs
    said, _ = fourth.communicate(timeout=PATIENCE)
    assert fourth.returncode == 0, said
    assert "the page does not have it" in said
    assert "not run again (2 runs per cell, 200 at full size)" in said
    assert kept(tmp_path) == {}
    assert "Computed by Windvane" in (tmp_path / "docs" / "page.md").read_text()
