"""The raw Intel lab file, with a small one whose means are known."""

import gzip
import hashlib
from collections import defaultdict
from datetime import datetime, timedelta
from statistics import fmean

import numpy as np
import pytest

import windvane as wv
from windvane.tasks import intel
from windvane.tasks.intel import read_raw

START = datetime(2004, 3, 1)
END = datetime(2004, 3, 9)
SILENT = {  # bins without a usable reading
    3: set(range(500, 592)),  # 92 of 1152 are 7.99 %: kept
    4: set(range(500, 593)),  # 93 are 8.07 %: dropped
    5: set(range(10)) | set(range(1150, 1152)),
}


def line(when, mote, temperature, voltage="2.69964", epoch=3):
    return f"{when:%Y-%m-%d %H:%M:%S.%f} {epoch} {mote} {temperature} 37.0933 45.08 {voltage}"


@pytest.fixture(scope="module")
def lab():
    """The lines of a file, and the means of motes 1, 2, 3 and 5 computed with dictionaries."""
    rng = np.random.default_rng(0)
    lines, readings = ["2004-03-31 03:38:15.757551 2 1 122.153 -3.91901 11.04 2.03397"], defaultdict(list)
    for mote in (1, 2, 3, 4, 5):
        for i in range(1152):
            if i in SILENT.get(mote, ()):
                continue
            begin = START + timedelta(minutes=10 * i)
            for second in rng.integers(600, size=1 + i % 3).tolist():
                value = round(float(rng.uniform(0.0, 50.0)), 4)
                readings[i, mote].append(value)
                lines.append(line(begin + timedelta(seconds=second), mote, value))
    means = {key: fmean(values) for key, values in readings.items()}
    rng.shuffle(lines)
    return lines, means


def junk():
    """Lines that must not count, all in one bin in the middle of mote 1's week."""
    when = datetime(2004, 3, 4, 12, 1)
    whole = line(when, 1, 49.0)
    return [
        line(when, 1, 122.153),  # beyond what is plausible
        line(when, 1, 50.0001),
        line(when, 1, -38.4),
        line(when, 1, 45.0, voltage="2.39"),  # battery
        line(when, 1, 45.0, voltage="0.009"),
        line(when, 1, "NaN"),
        line(when, 1, "1e999"),
        line(when, 1, "4.5.6"),
        line(when, 0, 45.0),
        line(when, 55, 45.0),
        line(when, 6485, 45.0),
        line(when, "", 45.0),
        line(START - timedelta(seconds=1), 1, 45.0),
        line(END, 1, 45.0),
        line(datetime(2004, 2, 29, 12), 1, 45.0),
        line(datetime(2004, 4, 4, 12), 1, 45.0),
        line(datetime(2005, 3, 4, 12), 1, 45.0),
        " ".join(whole.split()[:4]),  # cut short
        " ".join(whole.split()[:5]),
        " ".join(whole.split()[:7]),
        whole + " 17",  # too long
        "2004-03-04 25:01:00.0 3 1 49.0 37.0 45.0 2.7",
        "2004-03-04",
        "",
        "not a reading at all",
        "\xff\x00",
    ]


def expected(means, mote):
    """Linear interpolation, written out."""
    there = sorted(i for i, m in means if m == mote)
    column = []
    for i in range(1152):
        if i <= there[0] or i >= there[-1]:
            column.append(means[min(max(i, there[0]), there[-1]), mote])
            continue
        before = after = i
        while (before, mote) not in means:
            before -= 1
        while (after, mote) not in means:
            after += 1
        share = (i - before) / (after - before) if after > before else 0.0
        column.append((1.0 - share) * means[before, mote] + share * means[after, mote])
    return column


@pytest.fixture
def raw(tmp_path, lab):
    path = tmp_path / "data.txt"
    path.write_bytes("\n".join(lab[0] + junk()).encode("latin-1") + b"\n")
    return path


def test_the_means_of_the_bins_are_those_of_the_readings(raw, lab):
    table = read_raw(raw, verify=False)
    assert table.arms == ("mote_1", "mote_2", "mote_3", "mote_5")
    assert table.values.shape == (1152, 4)
    for column, mote in enumerate((1, 2, 3, 5)):
        np.testing.assert_allclose(table.values[:, column], expected(lab[1], mote), rtol=1e-12)


def test_the_labels_are_the_beginnings_of_the_bins(raw):
    labels = read_raw(raw, verify=False).labels
    assert len(labels) == 1152
    assert (labels[0], labels[6], labels[-1]) == (
        "2004-03-01 00:00:00",
        "2004-03-01 01:00:00",
        "2004-03-08 23:50:00",
    )


@pytest.mark.parametrize("block", [1000, 4096, 1 << 22])
def test_blocks_do_not_cut_lines(raw, monkeypatch, block):
    reference = read_raw(raw, verify=False).values
    monkeypatch.setattr(intel, "BLOCK", block)
    np.testing.assert_allclose(read_raw(raw, verify=False).values, reference, rtol=1e-12)


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b" ", b"\t"),
        lambda text: text.rstrip(b"\n"),
        lambda text: text.replace(b".000000 3 ", b" 3 "),  # whole seconds
    ],
)
def test_line_ends_and_separators(raw, rewrite):
    reference = read_raw(raw, verify=False).values
    raw.write_bytes(rewrite(raw.read_bytes()))
    np.testing.assert_allclose(read_raw(raw, verify=False).values, reference, rtol=1e-12)


def test_a_packed_file_is_the_same(raw):
    reference = read_raw(raw, verify=False).values
    packed = raw.with_name("data.txt.gz")
    packed.write_bytes(gzip.compress(raw.read_bytes()))
    np.testing.assert_array_equal(read_raw(packed, verify=False).values, reference)


@pytest.mark.parametrize("pack", [False, True])
def test_size_and_checksum_are_those_of_the_unpacked_file(raw, monkeypatch, pack):
    text = raw.read_bytes()
    path = raw
    if pack:
        path = raw.with_name("data.txt.gz")
        path.write_bytes(gzip.compress(text))
    with pytest.raises(
        wv.InvalidArgument, match=rf"has {len(text)} bytes .* must have 150910946 and 21d15688"
    ):
        read_raw(path)
    monkeypatch.setattr(intel, "SIZE", len(text))
    with pytest.raises(wv.InvalidArgument, match="verify=False"):
        read_raw(path)
    monkeypatch.setattr(intel, "SHA256", hashlib.sha256(text).hexdigest()[:8])
    assert read_raw(path).values.shape == (1152, 4)
    monkeypatch.setattr(intel, "SIZE", len(text) + 1)
    with pytest.raises(wv.InvalidArgument, match="is not the published data"):
        read_raw(path)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("data.txt", b"", "holds no usable reading"),
        ("data.txt", b"date,time,epoch\n1,2,3\n", "its lines must read date, time, epoch, mote"),
        ("data.txt", b"x" * 20_000, "holds no usable reading"),
        ("data.txt", line(START, 1, 20.0).encode(), "0 motes have readings in at least 92%"),
        ("data.txt.gz", b"2004-03-01 ...", "is not a complete gzip file"),
        (
            "data.txt.gz",
            gzip.compress(line(START, 1, 20.0).encode() * 99, mtime=0)[:-9],
            "is not a complete gzip file",
        ),
    ],
)
def test_bad_files(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(wv.InvalidArgument, match=message) as error:
        read_raw(tmp_path / name, verify=False)
    assert f"data='{tmp_path / name}'" in str(error.value)


def test_a_single_mote_is_not_enough(tmp_path, lab):
    path = tmp_path / "data.txt"
    path.write_text("\n".join(text for text in lab[0] if text.split()[3] == "1"))
    with pytest.raises(wv.InvalidArgument, match=r"1 motes have readings .* must be at least 2"):
        read_raw(path, verify=False)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(wv.InvalidArgument, match="there is no such file"):
        read_raw(tmp_path / "data.txt")
    with pytest.raises(wv.InvalidArgument, match="is a folder"):
        read_raw(tmp_path)
    with pytest.raises(wv.InvalidType, match="data=3: must be a path"):
        read_raw(3)
