"""The temperature task: on a small table, on the stand-in, and on the real one where it is at hand."""

import csv
import gzip
import os
from pathlib import Path

import numpy as np
import pytest

import windvane as wv
from windvane.tasks import Task
from windvane.tasks.temperature import synthetic_lab

DATA = Path(os.environ.get("WINDVANE_DATA") or Path(__file__).parents[2].parent / "shared" / "data")
REAL = DATA / "intel_temperature_10min.csv.gz"
needs_data = pytest.mark.skipif(
    not REAL.is_file(), reason=f"needs {REAL.name} in the folder that WINDVANE_DATA names"
)


def write(path, values, names=None):
    names = names or [f"mote_{i}" for i in range(values.shape[1])]
    lines = [",".join(["timestamp", *names])]
    lines += [",".join([f"row {i}", *map(repr, row)]) for i, row in enumerate(values.tolist())]
    data = "\n".join(lines).encode()
    path.write_bytes(gzip.compress(data, 1) if path.suffix == ".gz" else data)
    return path


@pytest.fixture(scope="module")
def small():
    """Eight days of five sensors."""
    return np.random.default_rng(0).normal(20.0, 3.0, (1152, 5))


@pytest.fixture(scope="module")
def folder(tmp_path_factory, small):
    path = tmp_path_factory.mktemp("lab")
    write(path / "intel_temperature_10min.csv.gz", small)
    return path


# Which rows


@pytest.mark.parametrize(
    ("days", "start", "stop"),
    [("7-8", 864, 1152), ("5-6", 576, 864), ("2-2", 144, 288), (" 3 - 8 ", 288, 1152)],
)
def test_all_days_before_the_test_days_are_the_training_set(folder, small, days, start, stop):
    task = wv.task("temperature", data=folder, days=days)
    assert isinstance(task, Task)
    assert (task.horizon, task.source, task.space) == (stop - start, "table", wv.Arms(5))
    past = small[:start]
    z = (past - past.mean()) / past.std()
    np.testing.assert_allclose(task.kernel.covariance, np.cov(z, rowvar=False), rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(task.values, (small[start:stop] - past.mean()) / past.std())
    assert (task.labels[0], task.labels[-1]) == (f"row {start}", f"row {stop - 1}")


def test_the_defaults_are_the_papers(folder):
    task = wv.task("temperature", data=folder)
    assert (task.days, task.horizon, task.noise_variance, task.name) == ("7-8", 288, 0.01, "temperature")


def test_the_seed_does_not_change_real_data(folder):
    one, other = (wv.task("temperature", data=folder, seed=seed) for seed in (0, 5))
    np.testing.assert_array_equal(one.values, other.values)
    assert (one.seed, other.seed) == (0, 5)


# Where the data are


def raw_lines(values):
    for i, row in enumerate(values):
        hour, minute = divmod(10 * (i % 144), 60)
        for mote, value in enumerate(row.tolist(), 1):
            yield f"2004-03-0{i // 144 + 1} {hour:02d}:{minute:02d}:59.1 {i} {mote} {value!r} 40 50 2.7"


def test_the_raw_file_comes_first_and_is_verified(tmp_path, small):
    write(tmp_path / "intel_temperature_10min.csv", small + 1.0)
    (tmp_path / "data.txt").write_text("\n".join(raw_lines(small)))
    with pytest.raises(wv.InvalidArgument, match="is not the published data"):
        wv.task("temperature", data=tmp_path)
    task = wv.task("temperature", data=tmp_path, verify=False)
    assert task.source == "raw"
    assert task.arms == ("mote_1", "mote_2", "mote_3", "mote_4", "mote_5")
    assert task.labels[0] == "2004-03-07 00:00:00"
    np.testing.assert_allclose(task.mean + task.scale * task.values, small[864:])
    packed = tmp_path / "elsewhere.txt.gz"
    packed.write_bytes(gzip.compress((tmp_path / "data.txt").read_bytes(), 1))
    np.testing.assert_array_equal(wv.task("temperature", data=packed, verify=False).values, task.values)


@pytest.mark.parametrize("name", ["intel_temperature_10min.csv", "mine.csv", "mine.csv.gz"])
def test_a_table_by_its_name(tmp_path, small, folder, name):
    task = wv.task("temperature", data=str(write(tmp_path / name, small)))
    np.testing.assert_array_equal(task.values, wv.task("temperature", data=folder).values)
    assert task.source == "table"


def test_without_data_the_error_says_how_to_get_them():
    with pytest.raises(wv.InvalidArgument, match=r"db\.csail\.mit\.edu/labdata") as error:
        wv.task("temperature")
    assert "synthetic=True" in str(error.value)
    assert "stand-in" in str(error.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"days": "1-2"}, "days='1-2': must be"),
        ({"days": "8-7"}, "days='8-7': must be"),
        ({"days": "7-9"}, "days='7-9': must be"),
        ({"days": "7"}, "days='7': must be"),
        ({"days": "٧-٨"}, "days='٧-٨': must be"),
        ({"days": ""}, "days='': must be"),
        ({"days": (7, 8)}, r"days=\(7, 8\): must be text"),
        ({"days": 78}, "days=78: must be text"),
        ({"synthetic": 1}, "synthetic=1: must be True or False"),
        ({"verify": "no"}, "verify='no': must be True or False"),
        ({"data": "nowhere/at/all"}, "data='nowhere/at/all': there is no such file"),
        ({"data": "nowhere.txt"}, "data='nowhere.txt': there is no such file"),
        ({"data": 5}, "data=5: must be a path"),
        ({"noise_variance": -0.1}, "noise_variance=-0.1"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": 0.5}, "seed=0.5"),
        ({"sensors": 3}, "does not use sensors="),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(wv.WindvaneError, match=message):
        wv.task("temperature", **({"synthetic": "data" not in options} | options))


def test_both_data_and_the_stand_in_are_a_mistake(folder):
    with pytest.raises(wv.InvalidArgument, match="data, synthetic: both given"):
        wv.task("temperature", data=folder, synthetic=True)


def test_bad_data(tmp_path, small):
    with pytest.raises(wv.InvalidArgument, match=r"this folder has none of data\.txt, .*synthetic=True"):
        wv.task("temperature", data=tmp_path)
    with pytest.raises(wv.InvalidArgument, match="has 1151 rows; must have 1152"):
        wv.task("temperature", data=write(tmp_path / "short.csv", small[1:]))
    with pytest.raises(wv.InvalidArgument, match="has one sensor"):
        wv.task("temperature", data=write(tmp_path / "one.csv", small[:, :1]))
    broken = small.copy()
    broken[7, 2] = np.nan
    with pytest.raises(wv.InvalidArgument, match=r"data='.*', line 9, column 4: 'nan'"):
        wv.task("temperature", data=write(tmp_path / "nan.csv", broken))
    stuck = small.copy()
    stuck[:, 3] = 20.0
    with pytest.raises(wv.InvalidArgument, match=r"arm 'mote_3' .* does not change"):
        wv.task("temperature", data=write(tmp_path / "stuck.csv", stuck))


# The stand-in


def test_the_stand_in_is_labelled_and_the_same_for_the_same_seed():
    one, same, other = (wv.task("temperature", synthetic=True, seed=seed) for seed in (3, 3, 4))
    assert one.source == "synthetic stand-in"
    assert (one.horizon, one.space) == (288, wv.Arms(46))
    np.testing.assert_array_equal(one.values, same.values)
    assert one.kernel == same.kernel
    assert not np.array_equal(one.values, other.values)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_stand_in_has_a_step_in_the_morning_and_one_in_the_evening(seed):
    lab = synthetic_lab(seed)
    assert lab.values.shape == (1152, 46)
    assert 10.0 < lab.values.min() < lab.values.max() < 45.0
    day = lab.values.reshape(8, 144, 46).mean(axis=(0, 2))
    change = np.diff(day)  # from bin i to i + 1; 7:00 is bin 42 and 18:00 is bin 108
    assert abs(int(change.argmax()) - 42) <= 2
    assert abs(int(change.argmin()) - 108) <= 2
    ordinary = np.delete(np.abs(change), [*range(38, 48), *range(104, 114)])
    assert min(change.max(), -change.min()) > 2.0 * ordinary.max()


def test_the_stand_ins_sensors_differ_in_amplitude_and_phase():
    days = synthetic_lab(0).values.reshape(8, 144, 46).mean(axis=0)
    amplitude = np.ptp(days, axis=0)
    assert amplitude.max() > 1.5 * amplitude.min()
    assert np.ptp(days.argmax(axis=0)) > 6  # more than an hour
    best = wv.task("temperature", synthetic=True, seed=0)
    assert len({best.optimum(t).x for t in range(1, 289)}) >= 5


def test_the_optimum_is_the_warmest_sensor():
    task = wv.task("temperature", synthetic=True, seed=1, days="5-6")
    warmest = synthetic_lab(1).values[576:864].argmax(axis=1)
    for t in range(1, 289):
        best = task.optimum(t)
        assert best.x == warmest[t - 1]
        assert all(best >= task.value(arm, t) for arm in range(46))


# The real lab


@pytest.fixture(scope="module")
def real():
    """Read without Windvane."""
    with gzip.open(REAL, "rt") as stream:
        rows = list(csv.reader(stream))
    return rows[0][1:], np.array([[float(cell) for cell in row[1:]] for row in rows[1:]])


@needs_data
@pytest.mark.parametrize(("days", "start"), [("7-8", 864), ("5-6", 576)])
def test_the_real_table(real, days, start):
    names, values = real
    assert values.shape == (1152, 46)
    task = wv.task("temperature", data=DATA, days=days)
    assert (task.source, task.horizon, task.space) == ("table", 288, wv.Arms(46))
    assert task.arms == tuple(names)
    np.testing.assert_allclose(task.values * task.scale + task.mean, values[start : start + 288], rtol=1e-12)
    best = [task.optimum(t) for t in range(1, 289)]
    assert [b.x for b in best] == values[start : start + 288].argmax(axis=1).tolist()
    np.testing.assert_allclose(
        np.array(best) * task.scale + task.mean, values[start : start + 288].max(axis=1), rtol=1e-12
    )


@needs_data
def test_a_model_that_forgets_nothing_is_the_worst_on_the_real_table():
    """Section 6.2.2: GP-UCB falls far behind everything that adapts."""
    task = wv.task("temperature", data=DATA)
    options = {
        "gp-ucb": {},
        "et-gp-ucb": {"delta": 0.1},
        "r-gp-ucb": {"period": 15},
        "tv-gp-ucb": {"rate": 0.03},
    }
    average = {}
    for name, extra in options.items():
        settings = {"kernel": task.kernel, "noise_variance": 0.01, "beta": (0.8, 0.4), "seed": 0} | extra
        average[name] = wv.simulate(wv.make(name, task.space, **settings), task, seed=0).average
    assert max(average, key=average.get) == "gp-ucb"
