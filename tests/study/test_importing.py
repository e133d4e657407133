"""An import goes on where it was cut, tells nothing twice, and needs little memory."""

import tracemalloc

import pytest

import windvane as wv
from windvane.errors import Conflict, InvalidArgument
from windvane.study import Study, importing
from windvane.study.live import UnwrittenStep

SPACE = wv.Box([(0, 1)])


def made(path, name="s"):
    return Study.create(path, name, SPACE, "random", seed=0)


def log_of(path, rows, start=0):
    path.write_text("x1,y,time\n" + "".join(f"0.{i % 10}5,{i},{start + i}\n" for i in range(rows)))
    return path


def values(study):
    return [record.y for record in study.events(kinds=["told"])]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch):
    monkeypatch.setattr(importing, "BATCH", 4)


class Cut(Exception):
    """The power went."""


def cut_after(tells, monkeypatch):
    """From now on the given number of tells work, and then none."""
    tell, left = UnwrittenStep.tell, [tells]

    def counted(self, *args, **more):
        if not left[0]:
            raise Cut
        left[0] -= 1
        return tell(self, *args, **more)

    monkeypatch.setattr(UnwrittenStep, "tell", counted)


@pytest.mark.parametrize("tells", [0, 1, 4, 7, 8, 10])
def test_an_import_that_was_cut_goes_on_where_it_stopped(tmp_path, monkeypatch, tells):
    log = log_of(tmp_path / "log.csv", 11)
    with made(tmp_path / "s.db") as study:
        with monkeypatch.context() as patch:
            cut_after(tells, patch)
            with pytest.raises(Cut):
                study.import_log(log)
        kept = tells // 4 * 4
        assert values(study) == [float(i) for i in range(kept)]
    heard = []
    with Study.open(tmp_path / "s.db", "s") as study:  # another process, later
        assert study.import_log(log, on_progress=lambda *done: heard.append(done)) == 11 - kept
        assert values(study) == [float(i) for i in range(11)]
    assert heard[0] == (kept, 11)
    assert heard[-1] == (11, 11)


def test_the_same_log_twice_is_refused_unless_it_is_to_be_told_again(tmp_path, monkeypatch):
    log = log_of(tmp_path / "log.csv", 6)
    copy = tmp_path / "another name.csv"
    copy.write_bytes(log.read_bytes())
    with made(tmp_path / "s.db") as study:
        assert study.import_log(log) == 6
        head = study.summary().head
        for path in (log, copy):
            with pytest.raises(Conflict, match=r"was imported before, .*--again"):
                study.import_log(path)
        assert study.summary().head == head
        with monkeypatch.context() as patch:
            cut_after(5, patch)
            with pytest.raises(Cut):
                study.import_log(log, again=True)
        assert study.import_log(log) == 2  # the second round goes on as well
        assert values(study) == [float(i) for i in range(6)] * 2
        with pytest.raises(Conflict):
            study.import_log(log)
        assert study.import_log(log, again=True) == 6


def test_a_log_that_was_begun_and_is_read_in_another_manner_is_refused(tmp_path, monkeypatch):
    log = tmp_path / "log.csv"
    log.write_text("x1,y,other\n" + "0.5,1,2\n" * 6)
    with made(tmp_path / "s.db") as study:
        with monkeypatch.context() as patch:
            cut_after(5, patch)
            with pytest.raises(Cut):
                study.import_log(log)
        with pytest.raises(Conflict, match=r"in part \(4 observations\) and otherwise read"):
            study.import_log(log, y="other")


def test_time_that_would_run_backwards_is_refused(tmp_path):
    first, second = log_of(tmp_path / "a.csv", 5, start=100), log_of(tmp_path / "b.csv", 5, start=102)
    with made(tmp_path / "s.db") as study:
        study.import_log(first)
        with pytest.raises(Conflict, match=r"begins at time 102.0, before the last .* at 104.0: .*--again"):
            study.import_log(second)
        assert len(values(study)) == 5
        assert study.import_log(second, again=True) == 5
        assert study.import_log(log_of(tmp_path / "c.csv", 3, start=107)) == 3


def test_a_file_that_changes_meanwhile_is_noticed(tmp_path):
    log = log_of(tmp_path / "log.csv", 9)

    def grow(done, _total):
        if done == 4:
            log.write_text(log.read_text() + "0.5,1,100\n")

    with made(tmp_path / "s.db") as study:
        with pytest.raises(Conflict, match="was changed while it was imported"):
            study.import_log(log, on_progress=grow)
        assert len(values(study)) == 4


def test_resets_at_the_end_are_told_with_the_last_batch(tmp_path):
    with made(tmp_path / "a.db") as study:
        for i in range(5):
            study.add([0.5], float(i))
        study.reset("new pump")
        study.export(tmp_path / "log.jsonl")
    with made(tmp_path / "b.db") as twin:
        assert twin.import_log(tmp_path / "log.jsonl") == 5
        assert [record.kind for record in twin.events()] == ["told"] * 5 + ["reset"]
        with pytest.raises(Conflict):
            twin.import_log(tmp_path / "log.jsonl")


def test_reading_a_log_takes_the_same_memory_however_long_it_is(tmp_path):
    def most(rows):
        with made(tmp_path / f"{rows}.db") as study:
            log = log_of(tmp_path / f"{rows}.csv", rows)
            tracemalloc.start()
            try:
                for _ in importing.LogFile(study, log).rows():
                    pass
                return tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()

    few = most(500)
    assert most(10_000) < few + 100_000


def test_columns_by_other_names(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("x1;yield;hour;y\n0,25;1,5;10;9\n0,5;2;12,5;9\n")
    with made(tmp_path / "s.db") as study:
        assert study.import_log(log, y="yield", time="hour", decimal_comma=True) == 2
        assert [(r.x, r.y, r.time) for r in study.events()] == [([0.25], 1.5, 10.0), ([0.5], 2.0, 12.5)]


@pytest.mark.parametrize(
    ("text", "how", "said"),
    [
        (
            "x1;y\n0.5;1,250\n",
            {},
            "y='1,250': must be a finite number; is it 1.250 with a decimal comma, or 1250",
        ),
        ("x1;y\n0,5;1\n", {}, "if this is 0.5, say decimal_comma=True, or --decimal-comma"),
        (
            "x1;y\n0,5;1.250\n",
            {"decimal_comma": True},
            "y='1.250': is it 1250 with a point between thousands",
        ),
        ("x1;y\n0,5;1.250,5\n", {"decimal_comma": True}, "write it without points between thousands"),
        ("x1;y;time\n0,5;1;02.03.2026\n", {"decimal_comma": True}, "or a date with the year first"),
        ("x1;z\n0.5;1,2\n", {"y": "z"}, "z='1,2': must be a finite number"),
        ("x1,y\n0.5,1\n", {"y": "yield"}, "y: there is no column yield; has x1, y"),
        ("x1,y\n0.5,1\n", {"time": "hour"}, "time: there is no column hour"),
        ("x1,y\n0.5,1\n", {"y": "y", "time": "y"}, "cannot be both"),
        ("x1,yield\n0.5,1\n", {}, "name it: y=, or --y in a shell"),
    ],
)
def test_what_is_not_clear_is_refused(tmp_path, text, how, said):
    log = tmp_path / "log.csv"
    log.write_text(text)
    with made(tmp_path / "s.db") as study:
        with pytest.raises(InvalidArgument) as caught:
            study.import_log(log, **how)
        assert study.summary().head == 0
    assert said in str(caught.value)


def test_a_time_that_a_tell_would_refuse_is_named_with_its_line_before_anything_is_told(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("x1,y,time\n0.1,1,0\n0.2,1,1.7e308\n")
    with made(tmp_path / "s.db") as study:
        with pytest.raises(InvalidArgument, match=r"log\.csv, line 3: time=1\.7e\+308: must be .* at most"):
            study.import_log(log)
        assert values(study) == []


def test_what_has_no_value_is_left_out_by_the_option_that_the_message_names(tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("x1,y\n0.1,1\n0.2,\n0.3,NaN\n0.4,2\n")
    with made(tmp_path / "s.db") as study:
        with pytest.raises(InvalidArgument, match=r"line 3: y is missing or NaN.*skip_missing=True"):
            study.import_log(log)
        assert study.import_log(log, skip_missing=True) == 2
        assert values(study) == [1.0, 2.0]
