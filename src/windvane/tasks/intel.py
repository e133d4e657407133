"""The raw file of the Intel Berkeley Research Lab, as ten-minute means.

`data.txt` (also as `data.txt.gz`) from https://db.csail.mit.edu/labdata/labdata.html, the page that the
paper cites: 2.3 million lines of date, time, epoch, mote, temperature, humidity, light, voltage, separated
by blanks, from 54 motes (Mica2Dot sensors) between 2004-02-28 and 2004-04-05. Lines are cut short where a
mote did not report everything.

The paper says "46 sensors", "eight days" and "10 minute intervals"; which sensors, which days and how
gaps were filled is not in its text. The rules here, from the file to the table:

1. Readings from 2004-03-01 00:00 up to 2004-03-08 24:00 of the motes 1 to 54 count.
2. A reading is usable if its line is complete, its temperature lies in [0, 50] degrees Celsius and its
   voltage is at least 2.4 V. A mote with an empty battery reports temperatures that climb to 122 degrees;
   on the way there they look plausible, hence the second condition.
3. A bin of ten minutes is the mean of a mote's usable readings in it; a bin without any is unusable.
4. A mote with more than 8 % unusable bins is dropped.
5. The bins that are still missing are interpolated linearly in time; at either end the nearest bin is
   repeated.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from windvane.checks import Array
from windvane.errors import InvalidArgument
from windvane.tasks.tablefile import UNREADABLE, TableFile, file_of, open_binary, unreadable

PAGE = "https://db.csail.mit.edu/labdata/labdata.html"
SIZE = 150_910_946  # bytes of data.txt, unpacked
SHA256 = "21d15688"  # how its checksum begins
START = datetime(2004, 3, 1)
DAYS = 8
BINS_A_DAY = 144
BINS = DAYS * BINS_A_DAY
MOTES = 54
PLAUSIBLE = (0.0, 50.0)  # degrees Celsius
VOLTAGE = 2.4  # volts, at least
UNUSABLE = 0.08  # of a mote's bins, at most
BLOCK = 1 << 22  # bytes read at once

_NUMBER = rb"(-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)"
_READING = re.compile(
    rb"^2004-03-0([1-8])[ \t]+([01]\d|2[0-3]):([0-5])\d:\S*[ \t]+\S+[ \t]+(\d{1,2})[ \t]+"
    + _NUMBER
    + rb"[ \t]+\S+[ \t]+\S+[ \t]+"
    + _NUMBER
    + rb"[ \t]*\r?$",
    re.MULTILINE,
)


def read_raw(path: str | os.PathLike[str], *, verify: bool = True, argument: str = "data") -> TableFile:
    """The table of ten-minute means, 1152 rows by the motes that are kept.

    The file is read in blocks of a few megabytes. `verify` compares its size and its checksum with those of
    the published file; `verify=False` takes any file of the same format.
    """
    source = file_of(argument, path)
    where = f"{argument}={str(source)!r}"
    totals, counts = np.zeros(BINS * MOTES), np.zeros(BINS * MOTES, dtype=np.int64)
    digest, size = hashlib.sha256(), 0
    try:
        for block in _blocks(source):
            digest.update(block)
            size += len(block)
            cells, temperatures = _usable(block)
            totals += np.bincount(cells, weights=temperatures, minlength=BINS * MOTES)
            counts += np.bincount(cells, minlength=BINS * MOTES)
    except UNREADABLE as error:
        raise unreadable(where, error) from error
    if verify and (size != SIZE or not digest.hexdigest().startswith(SHA256)):
        raise InvalidArgument(
            f"{where}: is not the published data.txt ({PAGE}). "
            f"It has {size} bytes and sha256 {digest.hexdigest()[:8]}...; must have {SIZE} and {SHA256}... "
            "Use verify=False to read another file of this format"
        )
    return _table(totals.reshape(BINS, MOTES), counts.reshape(BINS, MOTES), where)


def _blocks(path: Path) -> Iterator[bytes]:
    """The file in blocks that end where a line ends."""
    rest = b""
    with open_binary(path) as stream:
        while block := stream.read(BLOCK):
            cut = block.rfind(b"\n") + 1 or len(block)  # no line is that long: then it is not this file
            yield rest + block[:cut]
            rest = block[cut:]
    if rest:
        yield rest


def _usable(block: bytes) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], Array]:
    """Where the usable readings of a block belong, bin * MOTES + mote - 1, and their temperatures."""
    found = np.array(_READING.findall(block), dtype=np.bytes_).reshape(-1, 6)
    day, hour, tens, mote = (found[:, i].astype(np.int64) for i in range(4))
    temperature, voltage = found[:, 4].astype(np.float64), found[:, 5].astype(np.float64)
    low, high = PLAUSIBLE
    good = (mote >= 1) & (mote <= MOTES) & (temperature >= low) & (temperature <= high) & (voltage >= VOLTAGE)
    cells = ((day - 1) * BINS_A_DAY + hour * 6 + tens) * MOTES + mote - 1
    return cells[good], temperature[good]


def _table(totals: Array, counts: np.ndarray[tuple[int, ...], np.dtype[np.int64]], where: str) -> TableFile:
    """Means, without the motes that were silent too often, and with the gaps of the others filled."""
    if not counts.any():
        raise InvalidArgument(
            f"{where}: holds no usable reading from 2004-03-01 to 2004-03-08; its lines must read "
            "date, time, epoch, mote, temperature, humidity, light, voltage, separated by blanks"
        )
    kept = np.flatnonzero((counts == 0).mean(axis=0) <= UNUSABLE)
    if len(kept) < 2:
        raise InvalidArgument(
            f"{where}: {len(kept)} motes have readings in at least {1 - UNUSABLE:.0%} of the ten-minute bins "
            "from 2004-03-01 to 2004-03-08; must be at least 2"
        )
    axis = np.arange(BINS)
    columns = []
    for mote in kept:
        there = np.flatnonzero(counts[:, mote])
        columns.append(np.interp(axis, there, totals[there, mote] / counts[there, mote]))
    return TableFile(timestamps(), tuple(f"mote_{mote + 1}" for mote in kept), np.stack(columns, axis=1))


def timestamps() -> tuple[str, ...]:
    """The beginnings of the bins.

    >>> timestamps()[1], len(timestamps())
    ('2004-03-01 00:10:00', 1152)
    """
    return tuple(str(START + timedelta(minutes=10 * i)) for i in range(BINS))
