"""`windvane reproduce` as people use it: killed and continued, on a cluster, on a full disk."""

import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

from windvane.cli.main import main
from windvane.experiments.experiment import Setting
from windvane.experiments.paper import EXPERIMENTS

RUNS = "9"
ENDLESS = "100000"  # runs that nobody waits for: what is to be stopped cannot be done before
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}


def command(out, *more):
    return ["reproduce", "lemma3", "--runs", RUNS, "--out", str(out), *more]


def finished(out):
    """Runs on disk so far."""
    try:
        with sqlite3.connect(f"file:{out / 'runs.sqlite'}?mode=ro", uri=True) as database:
            return database.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """An uninterrupted run with one worker."""
    out = tmp_path_factory.mktemp("reference")
    assert main(command(out, "--jobs", "1")) == 0
    return out


def records(out):
    return (out / "lemma3" / "records.parquet").read_bytes()


def test_everything_named_is_there_and_pandas_reads_the_records(reference):
    folder = reference / "lemma3"
    assert {file.name for file in folder.iterdir()} == {
        "records.parquet",
        "table.md",
        "figure.png",
        "figure.pdf",
        "summary.json",
    }
    frame = pd.read_parquet(folder / "records.parquet")
    cells = frame.groupby(["row", "column"])["seed"].apply(list)
    assert len(cells) == len(EXPERIMENTS["lemma3"].cells(Setting()))
    assert all(seeds == list(range(int(RUNS))) for seeds in cells)
    assert "Lemma 3" in (reference / "report.html").read_text()


def test_killed_and_started_again_it_continues_and_gives_the_same_bytes(tmp_path, reference):
    line = [sys.executable, "-m", "windvane", *command(tmp_path, "--jobs", "2")]
    process = subprocess.Popen(
        [*line, "--runs", ENDLESS], env=ENVIRONMENT, stdout=subprocess.DEVNULL, start_new_session=True
    )
    until(lambda: finished(tmp_path) >= 5)
    process.kill()  # the coordinator alone: its workers must notice and go
    process.wait()
    group = process.pid
    until(lambda: not _alive(group))
    assert finished(tmp_path) >= 5
    again = subprocess.run(line, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert "report.html" in again.stdout
    assert records(tmp_path) == records(reference)


def _alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def listen_to_the_keyboard():
    """In a child: a shell starts what runs in the background with SIGINT ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_interrupted_from_the_keyboard_it_says_so_and_keeps_the_runs(tmp_path):
    line = [sys.executable, "-m", "windvane", *command(tmp_path, "--jobs", "2", "--runs", ENDLESS)]
    process = subprocess.Popen(
        line,
        preexec_fn=listen_to_the_keyboard,
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    until(lambda: finished(tmp_path) >= 3)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process
    _, complaint = process.communicate(timeout=120)
    assert process.returncode == 130
    first, second = complaint.strip().splitlines()
    assert first == "windvane: interrupted"
    assert f"kept in {tmp_path / 'runs.sqlite'}; the same command continues" in second
    assert finished(tmp_path) >= 3


def test_a_dask_cluster_gives_the_same_bytes_even_if_a_worker_is_killed(tmp_path, reference):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        victim = cluster.workers[0].pid

        def kill():
            until(lambda: finished(tmp_path) >= 5)
            os.kill(victim, signal.SIGKILL)

        thread = threading.Thread(target=kill)
        thread.start()
        assert main(command(tmp_path, "--dask", cluster.scheduler_address)) == 0
        thread.join()
    assert records(tmp_path) == records(reference)
    assert not multiprocessing.active_children()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a device that is always full")
def test_a_disk_that_fills_while_publishing_is_a_clear_error_and_keeps_the_runs(tmp_path, reference, capsys):
    assert main(command(tmp_path, "--jobs", "1", "--runs", "3")) == 0
    (tmp_path / "report.html").unlink()
    (tmp_path / "report.html").symlink_to("/dev/full")
    capsys.readouterr()
    assert main(command(tmp_path, "--jobs", "1", "--runs", "3")) == 2
    assert "No space left" in capsys.readouterr().err
    assert finished(tmp_path) == 3 * len(EXPERIMENTS["lemma3"].cells(Setting()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lemma3", "--runs", "0"], "--runs=0"),
        (["lemma3", "--jobs", "0"], "--jobs=0"),
        (["lemma3", "--seed", "-1"], "--seed=-1"),
        (["lemma3", "--data", "no/such/folder"], "no/such/folder"),
        (["lemma3", "tabel1"], "did you mean 'table1'"),
        (["lemma3", "--out", "/dev/null/x"], "/dev/null/x"),
        (["lemma3", "--markdown", "/dev/null/x.md"], "--markdown /dev/null/x.md"),
        (["lemma3", "--dask", ""], "--dask"),
        (["lemma3", "--dask", "nonsense"], "tcp://scheduler:8786"),
    ],
)
def test_bad_requests_say_what_is_wrong(tmp_path, capsys, arguments, message):
    assert main(["reproduce", "--out", str(tmp_path), *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("name", ["temperature", "table3"])
def test_missing_data_are_noticed_before_anything_runs(tmp_path, capsys, name):
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["reproduce", "lemma3", name, "--out", str(tmp_path / "out"), "--data", str(empty)]) == 2
    complaint = capsys.readouterr().err
    assert str(empty) in complaint
    assert f"needed by {name}; nothing was run" in complaint
    assert finished(tmp_path / "out") == 0


def test_one_file_is_not_taken_for_two_data_sets(tmp_path, capsys):
    rng = np.random.default_rng(0)
    warm = tmp_path / "intel.csv"
    rows = "\n".join(f"t{i},{a:.3f},{b:.3f}" for i, (a, b) in enumerate(rng.uniform(18.0, 25.0, (1152, 2))))
    warm.write_text(f"date,mote_1,mote_2\n{rows}\n")
    out = str(tmp_path / "out")
    assert main(["reproduce", "temperature", "table3", "--out", out, "--data", str(warm)]) == 2
    assert "two data sets" in capsys.readouterr().err
