"""Tables as tasks, and the files they come from."""

import csv
import gzip
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import oas

import windvane as wv
from windvane.tasks import Task
from windvane.tasks.table import Table
from windvane.tasks.tablefile import read_table

HAND = [
    [0.0, 2.0],
    [2.0, 0.0],
    [4.0, 4.0],
    [1.0, 5.0],
    [8.0, 2.0],
]  # train on three rows: mean 2, variance 8 / 3


@pytest.fixture
def rows():
    rng = np.random.default_rng(1)
    return rng.normal([3.0, 5.0, -1.0, 4.0], [1.0, 2.0, 0.5, 3.0], (60, 4)) @ rng.normal(size=(4, 4))


# The task


def test_a_table_by_hand():
    task = wv.task("table", values=HAND, train_rows=3)
    scale = (8.0 / 3.0) ** 0.5
    assert isinstance(task, Task)
    assert (task.name, task.space, task.horizon, task.noise_variance) == ("table", wv.Arms(2), 2, 0.01)
    assert (task.mean, task.scale) == pytest.approx((2.0, scale))
    assert [task.value(arm, 1) for arm in (0, 1)] == pytest.approx([-1.0 / scale, 3.0 / scale])
    assert [task.value(arm, 2) for arm in (0, 1)] == pytest.approx([6.0 / scale, 0.0])
    assert (task.optimum(1).x, task.optimum(2).x) == (1, 0)
    # The columns 0, 2, 4 and 2, 0, 4, less their means: variances 8 / 2 and covariance 4 / 2; then the scale.
    np.testing.assert_allclose(task.kernel.covariance, np.array([[4.0, 2.0], [2.0, 4.0]]) * 3.0 / 8.0)


def test_the_kernel_is_the_covariance_of_the_normalised_training_rows(rows):
    task = wv.task("table", values=rows, train_rows=40)
    z = (rows[:40] - rows[:40].mean()) / rows[:40].std()
    np.testing.assert_allclose(task.kernel.covariance, np.cov(z, rowvar=False), rtol=1e-12, atol=1e-14)
    assert task.shrinkage == 0.0
    z_test = task.values * task.scale + task.mean
    np.testing.assert_allclose(z_test, rows[40:])


def test_normalisation_does_not_change_which_arm_is_best(rows):
    task = wv.task("table", values=rows * [1.0, 100.0, 1.0, 0.01] + [0.0, 5.0, 50.0, 0.0], train_rows=30)
    raw = rows[30:] * [1.0, 100.0, 1.0, 0.01] + [0.0, 5.0, 50.0, 0.0]
    assert [task.optimum(t).x for t in range(1, 31)] == raw.argmax(axis=1).tolist()


def test_the_optimum_is_the_row_maximum(rows):
    task = wv.task("table", values=rows, train_rows=30)
    for t in range(1, task.horizon + 1):
        values = [task.value(arm, t) for arm in range(4)]
        assert task.optimum(t) == max(values)
        assert task.value(task.optimum(t).x, t) == task.optimum(t)


def test_test_rows_follow_the_training_rows(rows):
    task = wv.task("table", values=rows, train_rows=30, test_rows=7)
    whole = wv.task("table", values=rows, train_rows=30)
    assert (task.horizon, whole.horizon) == (7, 30)
    np.testing.assert_array_equal(task.values, whole.values[:7])


def test_the_future_does_not_leak_into_the_scale_or_the_kernel(rows):
    changed = rows.copy()
    changed[30:] *= 1000.0
    one, other = (wv.task("table", values=v, train_rows=30) for v in (rows, changed))
    assert (one.mean, one.scale, one.kernel) == (other.mean, other.scale, other.kernel)


def test_the_array_is_copied_and_protected(rows):
    given = rows.copy()
    task = wv.task("table", values=given, train_rows=30)
    before = task.value(0, 1)
    given[:] = 0.0
    assert task.value(0, 1) == before
    with pytest.raises(ValueError, match="read-only"):
        task.values[0, 0] = 1.0
    np.testing.assert_array_equal(rows.shape, (60, 4))


def test_integers_lists_and_other_floats_are_tables():
    assert wv.task("table", values=[[1, 2], [3, 5], [5, 4]], train_rows=2).horizon == 1
    single = wv.task("table", values=np.array(HAND, dtype=np.float32), train_rows=3)
    assert single.values.dtype == np.float64


def test_the_seed_is_recorded_and_changes_nothing(rows):
    tasks = [wv.task("table", values=rows, train_rows=30, seed=seed) for seed in (0, 7)]
    assert [task.seed for task in tasks] == [0, 7]
    np.testing.assert_array_equal(tasks[0].values, tasks[1].values)


def test_a_task_survives_pickling(rows):
    task = pickle.loads(pickle.dumps(wv.task("table", values=rows, train_rows=30)))
    assert task.optimum(3) == task.value(task.optimum(3).x, 3)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
def test_shrinkage_with_few_rows_is_the_oracle_approximating_one(n):
    rows = np.random.default_rng(n).normal(size=(n + 1, 8)) * np.linspace(0.5, 3.0, 8)
    task = wv.task("table", values=rows, train_rows=n)
    z = (rows[:n] - task.mean) / task.scale
    expected, share = oas(z)
    assert task.shrinkage == pytest.approx(share)
    # scikit-learn divides by n where a sample covariance has n - 1.
    np.testing.assert_allclose(task.kernel.covariance, expected * n / (n - 1), rtol=1e-9, atol=1e-12)
    assert np.linalg.eigvalsh(task.kernel.covariance)[0] > 0.0


def test_shrinkage_by_hand():
    task = wv.task("table", values=HAND, train_rows=3, shrinkage=0.25)
    np.testing.assert_allclose(task.kernel.covariance, np.array([[4.0, 1.5], [1.5, 4.0]]) * 3.0 / 8.0)
    assert task.shrinkage == 0.25
    identity = wv.task("table", values=HAND, train_rows=3, shrinkage=1)
    np.testing.assert_allclose(identity.kernel.covariance, 1.5 * np.eye(2))


@pytest.mark.parametrize("algorithm", ["et-gp-ucb", "tv-gp-ucb", "ui-tvbo", "r-gp-ucb"])
@pytest.mark.parametrize("kind", ["plain", "twins", "few rows", "still arm"])
def test_every_table_can_be_simulated(rows, kind, algorithm):
    options = {"train_rows": 30}
    if kind == "twins":  # a singular covariance
        rows = rows[:, [0, 1, 1, 2, 2]]
    elif kind == "few rows":
        options["train_rows"] = 2
    elif kind == "still arm":
        rows = np.column_stack([rows, np.full(60, 1.5)])
        options["shrinkage"] = 0.05
    task = wv.task("table", values=rows, test_rows=20, **options)
    extra = {"r-gp-ucb": {"period": 5}, "tv-gp-ucb": {"rate": 0.03}, "ui-tvbo": {"rate": 0.03}}
    opt = wv.make(
        algorithm, task.space, kernel=task.kernel, noise_variance=0.01, seed=0, **extra.get(algorithm, {})
    )
    trace = wv.simulate(opt, task)
    assert len(trace) == 20
    assert (trace.regret >= 0.0).all()


NAN = np.array(HAND)
NAN[3, 1] = np.nan
INFINITE = np.array(HAND)
INFINITE[0, 0] = -np.inf


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train_rows": 3}, "values, file: neither given"),
        ({"values": HAND, "file": "x.csv", "train_rows": 3}, "values, file: both given"),
        ({"values": HAND}, "train_rows: must be given"),
        ({"values": HAND, "train_rows": 1}, "train_rows=1: must be an integer at least 2"),
        ({"values": HAND, "train_rows": -3}, "train_rows=-3: must be an integer at least 2"),
        (
            {"values": HAND, "train_rows": 5},
            "train_rows=5: leaves no test rows; values has 5 rows, so at most 4",
        ),
        ({"values": HAND, "train_rows": 500}, "train_rows=500: leaves no test rows"),
        ({"values": HAND, "train_rows": 2.0}, "train_rows=2.0: must be an integer"),
        ({"values": HAND, "train_rows": True}, "train_rows=True: must be an integer"),
        ({"values": HAND, "train_rows": "3"}, "train_rows='3': must be an integer"),
        ({"values": HAND, "train_rows": 3, "test_rows": 0}, "test_rows=0: must be an integer at least 1"),
        ({"values": HAND, "train_rows": 3, "test_rows": 3}, "test_rows=3: .* at most 2"),
        ({"values": HAND, "train_rows": 3, "noise_variance": 0.0}, "noise_variance=0.0: must be .* above 0"),
        ({"values": HAND, "train_rows": 3, "noise_variance": "a"}, "noise_variance='a'"),
        ({"values": HAND, "train_rows": 3, "seed": -1}, "seed=-1"),
        ({"values": HAND, "train_rows": 3, "shrinkage": 1.5}, "shrinkage=1.5: must be .* at most 1"),
        ({"values": HAND, "train_rows": 3, "shrinkage": np.nan}, "shrinkage=nan"),
        ({"values": HAND, "train_rows": 3, "horizon": 3}, "does not use horizon="),
        ({"values": HAND[:2], "train_rows": 2}, "values: has 2 rows; must have at least 3"),
        ({"values": [[1.0], [2.0], [3.0]], "train_rows": 2}, "values: has one arm; must have at least 2"),
        (
            {"values": NAN, "train_rows": 3},
            r"values, row 3, column 1 \(counted from 0\): nan; must be a finite",
        ),
        ({"values": INFINITE, "train_rows": 3}, "values, row 0, column 0 .*-inf"),
        ({"values": [[1.0, 2.0], [3.0]], "train_rows": 3}, "values: must be a two-dimensional array"),
        ({"values": [["a", "b"]] * 4, "train_rows": 3}, "values: must be a two-dimensional array"),
        (
            {"values": np.ones((5, 2), dtype=complex), "train_rows": 3},
            "values: must be a two-dimensional array",
        ),
        ({"values": np.ones((5, 2), dtype=bool), "train_rows": 3}, "values: must be a two-dimensional array"),
        ({"values": "table.csv", "train_rows": 3}, "values: must be a two-dimensional array"),
        ({"values": [1.0, 2.0, 3.0], "train_rows": 2}, "values: must be an array of rows by arms .* got 3"),
        ({"values": np.ones((3, 2, 2)), "train_rows": 2}, "values: .* got 3x2x2"),
        ({"values": np.empty((0, 2)), "train_rows": 2}, "values: .* got 0x2"),
        ({"values": 5.0, "train_rows": 2}, "values: .* got a single number"),
        ({"values": [[3.0, 3.0]] * 4 + [[1.0, 2.0]], "train_rows": 4}, "training rows: all entries are 3"),
        ({"values": [[0.1, 0.1]] * 4, "train_rows": 3}, "training rows: all entries are 0.1"),
        ({"values": [[1.0, 2.0]] * 4, "train_rows": 3}, r"arm '0' \(number 0, .*\) does not change"),
        ({"values": [[1.0, 2.0]] * 4, "train_rows": 3, "shrinkage": 0.5}, "training rows: no arm changes"),
        ({"values": [[1.0, 2.0], [1.0, 3.0], [1.0, 2.5], [4.0, 3.0]], "train_rows": 3}, "arm '0'"),
        ({"values": np.array(HAND) * 1e300, "train_rows": 3}, "training rows: too large"),
        ({"values": np.array(HAND) * 1e-200, "train_rows": 3}, "training rows: vary by"),
        ({"values": [*(1e-100 * np.array(HAND)), [1e300, 0.0]], "train_rows": 3}, "test rows: too far"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(wv.WindvaneError, match=message):
        wv.task("table", **options)


@pytest.mark.parametrize("t", [0, 3, -1, 1.0, True, None])
def test_bad_times(t):
    task = wv.task("table", values=HAND, train_rows=3)
    for call in (task.optimum, lambda t: task.value(0, t)):
        with pytest.raises(wv.WindvaneError, match="t="):
            call(t)


@pytest.mark.parametrize("arm", [-1, 2, 0.5, "0", None, True])
def test_bad_arms(arm):
    with pytest.raises(wv.WindvaneError, match="x="):
        wv.task("table", values=HAND, train_rows=3).value(arm, 1)


# Files

BODY = [[1.5, -2.0, 3e3], [4.0, 5.0, 6.0]]


@pytest.mark.parametrize(
    ("text", "labels", "arms"),
    [
        ("1.5,-2.0,3e3\n4,5,6\n", (), ("0", "1", "2")),
        ("a,b,c\n1.5,-2,3000\n4,5,6", (), ("a", "b", "c")),
        (
            "date,a,b,c\n2020-01-01,1.5,-2,3e3\n2020-01-02,4,5,6\n",
            ("2020-01-01", "2020-01-02"),
            ("a", "b", "c"),
        ),
        ("2020-01-01,1.5,-2,3e3\n2020-01-02,4,5,6\n", ("2020-01-01", "2020-01-02"), ("0", "1", "2")),
        ("room,a,b,c\nmon,1.5,-2,3e3\ntue,4,5,6\n", ("mon", "tue"), ("a", "b", "c")),
        # numeric times are labels if the header says so
        ("t,a,b,c\n0,1.5,-2,3e3\n1,4,5,6\n", ("0", "1"), ("a", "b", "c")),
        (",a,b,c\n0,1.5,-2,3e3\n1,4,5,6\n", ("0", "1"), ("a", "b", "c")),
        # arms with numbers for names
        ("Time,1,2,3\n0,1.5,-2,3e3\n1,4,5,6\n", ("0", "1"), ("1", "2", "3")),
        # what spreadsheets and other systems write
        ("\ufeffa,b,c\r\n1.5,-2,3e3\r\n\r\n4,5,6\r\n", (), ("a", "b", "c")),
        ('"a, left",b,c\n"1.5",-2,3e3\n 4 , 5,6 \n\n\n', (), ("a, left", "b", "c")),
        ("zürich,b,c\n1.5,-2,3e3\n4,5,6", (), ("zürich", "b", "c")),
    ],
)
def test_the_ways_to_write_a_table(tmp_path, text, labels, arms):
    for name, data in (
        ("t.csv", text.encode()),
        ("T.CSV", text.encode()),
        ("t.csv.gz", gzip.compress(text.encode())),
    ):
        (tmp_path / name).write_bytes(data)
        table = read_table(tmp_path / name)
        assert (table.labels, table.arms) == (labels, arms)
        np.testing.assert_array_equal(table.values, BODY)


def test_tabs_and_arrays(tmp_path):
    (tmp_path / "t.tsv").write_text("date\ta,b\tc\nx\t1\t2\ny\t3\t4\n")
    table = read_table(tmp_path / "t.tsv")
    assert table.arms == ("a,b", "c")
    np.testing.assert_array_equal(table.values, [[1, 2], [3, 4]])
    np.save(tmp_path / "t.npy", np.array([[1, 2], [3, 4]]))
    table = read_table(str(tmp_path / "t.npy"))
    assert (table.labels, table.arms) == ((), ("0", "1"))
    np.testing.assert_array_equal(table.values, [[1, 2], [3, 4]])


def test_a_file_is_the_same_task_as_its_array(tmp_path, rows):
    np.savetxt(tmp_path / "t.csv", rows, delimiter=",", header="w,x,y,z", comments="", fmt="%.17g")
    task = wv.task("table", file=tmp_path / "t.csv", train_rows=30)
    twin = wv.task("table", values=rows, train_rows=30)
    assert (task.arms, twin.arms) == (("w", "x", "y", "z"), ("0", "1", "2", "3"))
    assert (task.source, twin.source) == ("table", "array")
    np.testing.assert_array_equal(task.values, twin.values)
    assert task.kernel == twin.kernel
    assert isinstance(task, Table)


numbers = st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 5).flatmap(
        lambda n: st.lists(st.lists(numbers, min_size=n, max_size=n), min_size=1, max_size=6)
    ),
    st.booleans(),
    st.booleans(),
    st.sampled_from([".csv", ".tsv", ".csv.gz", ".tsv.gz"]),
    st.lists(st.text("xyz ,;\t\"'é", max_size=4), min_size=5, max_size=5),
)
def test_what_is_written_is_read(tmp_path_factory, body, header, labelled, suffix, words):
    path = tmp_path_factory.getbasetemp() / f"round-trip{suffix}"
    arms = [f"arm{i}{word}z" for i, word in enumerate(words[: len(body[0])])]
    labels = [f"row {i}" for i in range(len(body))]
    opened = gzip.open if suffix.endswith(".gz") else open
    with opened(path, "wt", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter="\t" if "tsv" in suffix else ",")
        if header:
            writer.writerow(["date", *arms] if labelled else arms)
        for label, row in zip(labels, body, strict=True):
            writer.writerow([label, *row] if labelled else row)
    table = read_table(path)
    np.testing.assert_array_equal(table.values, np.array(body))
    assert table.labels == (tuple(labels) if labelled else ())
    assert table.arms == (tuple(arms) if header else tuple(map(str, range(len(body[0])))))


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"\n \n\r\n", "is empty"),
        ("t.csv", b"a,b\n", "has a header and nothing else"),
        ("t.csv", b"a,b\n1,2\n3\n", "line 3: has 1 columns; must have 2, as line 1"),
        ("t.csv", b"a,b\n\n1,2\n3,4,5\n", "line 4: has 3 columns; must have 2"),
        ("t.csv", b"a,b\n1,2\n3,x\n", "line 3, column 2: 'x'; must be a finite number"),
        ("t.csv", b"date,a,b\n2020,1,2\n2021,3,\n", "line 3, column 3: is empty; must be a finite number"),
        ("t.csv", b"1,2\n3,nan\n", "line 2, column 2: 'nan'; must be a finite number"),
        ("t.csv", b"1,2\ninf,4\n", "line 2, column 1: 'inf'; must be a finite number"),
        ("t.csv", b"1,2\n3,-1e999\n", "line 2, column 2: '-1e999'"),
        ("t.csv", b"1,2\n3,1_000\n", "line 2, column 2: '1_000'"),
        ("t.csv", b"1,,3\n4,5,6\n", "line 1, column 2: is empty"),
        ("t.csv", b"1,x,3\n4,5,6\n", "line 1, column 2: 'x'"),
        ("t.csv", b",2,3\n4,5,6\n", "line 1, column 1: is empty"),
        ("t.csv", b"mon,2,3\n4,5,6\n", "line 1, column 1: 'mon'"),
        ("t.csv", b"1;2;3\n4;5;6\n", "holds labels and no arms"),
        ("t.csv", b"date\n2020-01-01\n2020-01-02\n", "holds labels and no arms"),
        ("t.csv", b"a,a\n1,2\n3,4\n", "line 1, column 2: 'a' is the name of column 1 too"),
        ("t.csv", b"date,a,\nx,1,2\n", "line 1, column 3: has no name"),
        ("t.csv", b'a,b\n1,"2\n3,4\n', "is not a table"),
        ("t.csv", b"a,b\n1,\xff\xfe\n", "is not text in UTF-8"),
        ("t.csv", gzip.compress(b"a,b\n1,2\n3,4\n", mtime=0), "is not text in UTF-8"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16"), "is not text in UTF-8"),
        ("t.csv", b"a,b\n1,\x00\n", "line 2, column 2"),
        ("t.csv.gz", b"a,b\n1,2\n", "is not a complete gzip file"),
        ("t.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 99, mtime=0)[:-12], "is not a complete gzip file"),
        (
            "t.csv.gz",
            gzip.compress(b"a,b\n" + b"1,2\n" * 99, mtime=0)[:20] + b"\x00" * 40,
            "is not a complete gzip file",
        ),
        ("t.csv.gz", b"", "is empty"),
        ("t.npy", b"", "is not a .npy file of numbers"),
        ("t.npy", b"1,2\n3,4\n", "is not a .npy file of numbers"),
        ("t.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8'}", "is not a .npy file of numbers"),
        ("t.xlsx", b"a,b\n1,2\n", "must end in .csv, .csv.gz, .tsv, .tsv.gz or .npy"),
        ("t", b"a,b\n1,2\n", "must end in .csv"),
        ("t.csv", b"a\n1\n2\n3\n4\n", "has one arm; must have at least 2"),
        ("t.csv", b"a,b\n1,2\n", "has 1 rows; must have at least 3"),
        ("t.csv", b"a,b\n1,2\n3,4\n5,7\n", "train_rows=3: leaves no test rows"),
    ],
)
def test_bad_files_are_named_with_line_and_column(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(wv.InvalidArgument, match=message) as error:
        wv.task("table", file=tmp_path / name, train_rows=3)
    assert name in str(error.value)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array([[1.0, np.nan], [2.0, 3.0]]), r"row 0, column 1 \(counted from 0\): nan"),
        (np.array([1.0, 2.0]), "rows by arms .* got 2"),
        (np.array([["a", "b"]]), "array of real numbers"),
        (np.array([[{}, {}]], dtype=object), "is not a .npy file of numbers"),
    ],
)
def test_bad_arrays_in_files(tmp_path, array, message):
    np.save(tmp_path / "t.npy", array, allow_pickle=True)
    with pytest.raises(wv.WindvaneError, match=message):
        wv.task("table", file=tmp_path / "t.npy", train_rows=2)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(wv.InvalidArgument, match=r"file='.*no\.csv': there is no such file"):
        wv.task("table", file=tmp_path / "no.csv", train_rows=2)
    with pytest.raises(wv.InvalidArgument, match="is a folder; must be a file"):
        wv.task("table", file=tmp_path, train_rows=2)
    for wrong in (5, b"t.csv", ["t.csv"]):
        with pytest.raises(wv.InvalidType, match=r"file=.*: must be a path"):
            wv.task("table", file=wrong, train_rows=2)
    for wrong in ("", "a\0b.csv"):
        with pytest.raises(wv.InvalidArgument, match="file="):
            wv.task("table", file=wrong, train_rows=2)
