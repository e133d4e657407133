"""A database looked at from end to end: what is wrong with it, and what to do about that.

Every row is read as it is, so that one that is damaged hides no other. Nothing is written, except that an
older schema is brought up to date, as whenever a database is opened.
"""

from __future__ import annotations

import json
import math
import os
import stat
import time as clocks
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, Row, func, select, text

from windvane.algorithms import ALGORITHMS
from windvane.codec import decode
from windvane.digits import counted
from windvane.errors import CorruptState, WindvaneError
from windvane.moments import utc
from windvane.spaces.base import Domain
from windvane.storage import AMENDING, Database
from windvane.storage.records import dumps, record_of
from windvane.storage.schema import checkpoints, deliveries, events, studies, tokens, webhooks
from windvane.study.amendments import Right, follow, right_values
from windvane.study.live import Live
from windvane.study.numbering import left_out

Level = Literal["note", "warning", "error"]
BATCH = 1000  # records read at once
STUCK = 600.0  # seconds that a webhook may be late before it is said
LARGE = 256 * 2**20  # bytes of a log that is not copied back
REBUILD = "`windvane study rebuild NAME` makes the checkpoints anew from the journal"
RESTORE = "Restore the database from a backup"
COUNTERS = {  # of a study, and the records they count
    "tells": "told",
    "failed": "failed",
    "trials": "asked",
    "resets": "reset at",
    "violations": "beyond a limit at",
}
NUMBERS = ("y", "time", "expires")  # of a record; none, or finite


@dataclass(frozen=True)
class Finding:
    """Something about a database, or about a study in it. Only an "error" means that something is broken."""

    level: Level
    study: str | None
    what: str
    advice: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        where = "" if self.study is None else f"study {self.study!r}: "
        return f"{where}{self.what}{f'. {self.advice}' if self.advice else ''}"


def examine(
    database: Database,
    *,
    deep: bool = False,
    clock: Callable[[], float] = clocks.time,
    on_study: Callable[[str], None] = lambda _name: None,
) -> Iterator[Finding]:
    """Everything that is to be said, as it is found.

    With `deep`, each checkpoint is also compared with what the journal makes of the one before it, which
    takes as long as the tells took. Others may write meanwhile: each study is looked at as of one moment.
    """
    if database.kind == "sqlite":
        yield from _file(Path(database.link.where))
    with database.link.reading() as connection:
        if database.kind == "sqlite":
            yield from _pages(connection)
        numbers = list(connection.execute(select(studies.c.id).order_by(studies.c.name)).scalars())
    yield Finding("note", None, f"{len(numbers)} {'study' if len(numbers) == 1 else 'studies'}")
    for number in numbers:
        with database.link.as_of_now() as connection:
            row = connection.execute(select(studies).where(studies.c.id == number)).one_or_none()
            if row is None:  # deleted meanwhile
                continue
            on_study(str(row.name))
            for level, what, advice in _study(connection, row, deep, clock()):
                yield Finding(level, str(row.name), what, advice)
    with database.link.reading() as connection:
        yield from _webhooks(connection, clock())


Said = tuple[Level, str, str]


def _file(path: Path) -> Iterator[Finding]:
    """The file and its log, as the operating system has them."""
    found = path.stat()
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o077:
        said = f"{path}: others may read it ({mode:o}), and it holds the secrets of webhooks"
        yield Finding("warning", None, said, f"chmod 600 {path}")
    if found.st_nlink > 1:
        said = f"{path}: has {found.st_nlink} names; opened by two of them, each has a log of its own"
        yield Finding("warning", None, said, "Remove the other names")
    log = path.with_name(f"{path.name}-wal")
    size = log.stat().st_size if log.exists() else 0
    if size > LARGE:
        said = f"{log}: {size / 2**20:.0f} MB that are not in the file yet"
        yield Finding("warning", None, said, "Somebody has been reading for long; end that")
    if not os.access(path.parent, os.W_OK):
        yield Finding("error", None, f"{path.parent}: SQLite must write there", "Check its permissions")


def _pages(connection: Connection) -> Iterator[Finding]:
    """What SQLite says of its own pages and of rows that refer to others."""
    said = [str(row[0]) for row in connection.execute(text("PRAGMA integrity_check(5)"))]
    if said != ["ok"]:
        yield Finding("error", None, f"the file is damaged: {'; '.join(said)}", RESTORE)
    lost = Counter(str(row[0]) for row in connection.execute(text("PRAGMA foreign_key_check")))
    for table, count in lost.items():
        yield Finding("error", None, f"{table}: {counted(count, 'row')} without what it belongs to", RESTORE)


# -- a study ------------------------------------------------------------------------------------------------


def _study(connection: Connection, row: Row[Any], deep: bool, now: float) -> Iterator[Said]:
    sound = True
    for said in (*_definition(row), *_moments(row, "created", "last_at")):
        yield said
        sound = False
    counts: Counter[str] = Counter()
    asked: dict[int, float | None] = {}
    for said in _journal(connection, row, counts, asked):
        yield said
        sound = False
    for column, kind in COUNTERS.items():
        if sound and getattr(row, column) != counts[kind]:
            what = f"says {column} = {getattr(row, column)}, but its journal has {counts[kind]}"
            yield "error", what, RESTORE
    if sound and row.pending != len(asked):
        out = f"{counted(len(asked), 'trial')} {'is' if len(asked) == 1 else 'are'} out"
        yield "error", f"says pending = {row.pending}, but {out}", REBUILD
    late = sum(expires is not None and expires <= now for expires in asked.values())
    if late:
        what = f"{late} of {counted(len(asked), 'trial')} out {'has' if late == 1 else 'have'} expired"
        yield "note", what, "The next step records that"
    if sound:
        yield from _checkpoints(connection, row, deep)


def _definition(row: Row[Any]) -> Iterator[Said]:
    try:
        definition = json.loads(row.definition)
        if not isinstance(definition["options"], Mapping) or not isinstance(
            decode(definition["space"]), Domain
        ):
            raise ValueError("its space or its options are not what they should be")
        if definition["algorithm"] not in ALGORITHMS:
            yield "warning", f"its algorithm, {definition['algorithm']!r}, is not known here", ""
    except (ValueError, KeyError, TypeError, WindvaneError) as error:
        yield "error", f"its definition is damaged ({error})", RESTORE


def _moments(row: Any, *columns: str) -> Iterator[Said]:
    """Times that are none: what shows them, or sends them as JSON, would end in an error."""
    for column in columns:
        value = getattr(row, column)
        try:
            _ = value is None or utc(value)
        except (ValueError, TypeError, OverflowError, OSError):
            yield "error", f"says {column} = {value!r}, which is no time", RESTORE


def _journal(
    connection: Connection, row: Row[Any], counts: Counter[str], asked: dict[int, float | None]
) -> Iterator[Said]:
    """Record by record: numbered without gaps, readable, and each what its kind promises."""
    last, bad = 0, 0
    while True:
        wanted = select(events).where(events.c.study_id == row.id, events.c.seq > last)
        batch = connection.execute(wanted.order_by(events.c.seq).limit(BATCH)).all()
        for each in batch:
            if each.seq != last + 1:
                missing = f"{last + 1}" if each.seq == last + 2 else f"{last + 1} to {each.seq - 1}"
                yield "error", f"journal: missing: {missing}", RESTORE
            last = each.seq
            try:
                _record(each, counts, asked)
            except (WindvaneError, ValueError, KeyError, TypeError) as error:
                bad += 1
                if bad <= 5:
                    yield "error", f"record {each.seq}: damaged ({str(error).split('. Restore')[0]})", RESTORE
        if len(batch) < BATCH:
            break
    if bad > 5:
        yield "error", f"damaged as well: {counted(bad - 5, 'more record')}", RESTORE
    if last != row.head:
        yield "error", f"its last record should be {row.head}, and is {last}", RESTORE


def _record(row: Row[Any], counts: Counter[str], asked: dict[int, float | None]) -> None:
    record = record_of(row._mapping)
    for _level, said, _advice in _moments(row, "at"):
        raise CorruptState(said)
    for name in NUMBERS:
        value = getattr(record, name)
        if value is not None and not (isinstance(value, int | float) and math.isfinite(value)):
            raise CorruptState(f"says {name} = {value!r}, which is not finite")
    if record.kind == "told" and (record.event is None or record.y is None or record.x is None):
        raise CorruptState("a tell without its value, point or event")
    if record.kind == "told":
        _ = record.told
    if record.kind == "asked":
        if record.trial != counts["asked"] + 1 or record.x is None:
            raise CorruptState(f"asked for trial {record.trial}, where {counts['asked'] + 1} is next")
        asked[record.trial] = record.expires
    elif record.trial is not None:
        asked.pop(record.trial, None)
    elif record.kind in ("failed", "expired"):
        raise CorruptState(f"{record.kind}, but no trial is named")
    if record.kind in AMENDING and record.event is None:
        raise CorruptState("amends others, but does not say which")
    if record.kind == "redefined":
        left_out(record)
    counts.update(
        {record.kind: 1, "reset at": int(record.reset), "beyond a limit at": int(bool(record.violated))}
    )


def _checkpoints(connection: Connection, row: Row[Any], deep: bool) -> Iterator[Said]:
    """Each can be restored; the newest leads to the end of the journal, and with `deep` each to the next."""
    wanted = select(checkpoints.c.seq).where(checkpoints.c.study_id == row.id).order_by(checkpoints.c.seq)
    seqs = [int(seq) for seq in connection.execute(wanted).scalars()]
    if not seqs or seqs[0] != 0:
        yield "error", "the checkpoint before its first record is missing", REBUILD
    if seqs and seqs[-1] > row.head:
        yield "error", f"a checkpoint of record {seqs[-1]}, but the journal ends at {row.head}", REBUILD
        return
    right = right_values(connection, row.id)
    for number, seq in enumerate(seqs):
        state = _state(connection, row.id, seq)
        end = seqs[number + 1] if number + 1 < len(seqs) else int(row.head)
        try:
            live = Live.restore(seq, state)
            if number + 1 < len(seqs) and not deep:
                continue
            _follow(connection, row.id, live, end, right)
        except WindvaneError as error:
            yield "error", str(error).split(". The journal is whole")[0], REBUILD
            return
        if number + 1 < len(seqs) and dumps(live.state()) != _state(connection, row.id, end):
            what = f"checkpoint at record {end}: is not what the journal makes of the one before"
            yield "error", what, REBUILD


def _state(connection: Connection, study_id: int, seq: int) -> str:
    own = (checkpoints.c.study_id == study_id, checkpoints.c.seq == seq)
    return str(connection.execute(select(checkpoints.c.state).where(*own)).scalar_one())


def _follow(connection: Connection, study_id: int, live: Live, end: int, right: Right) -> None:
    while live.head < end:
        wanted = select(events).where(events.c.study_id == study_id, events.c.seq > live.head)
        rows = connection.execute(wanted.where(events.c.seq <= end).order_by(events.c.seq).limit(BATCH))
        for row in rows.all():
            follow(live, record_of(row._mapping), right)


# -- tokens and webhooks -----------------------------------------------------------------------------------


def _webhooks(connection: Connection, now: float) -> Iterator[Finding]:
    for table in (tokens, webhooks):
        for row in connection.execute(select(table).order_by(table.c.id)):
            for level, what, advice in _moments(row, "created"):
                yield Finding(
                    level, None, f"{table.name.removeprefix('windvane_')[:-1]} {row.id}: {what}", advice
                )
    late = (deliveries.c.status == "due", deliveries.c.not_before < now - STUCK)
    count, oldest, tried = connection.execute(
        select(func.count(), func.min(deliveries.c.not_before), func.max(deliveries.c.attempts)).where(*late)
    ).one()
    if count:
        said = (
            f"{counted(count, 'webhook call')} due for up to {counted(round((now - oldest) / 60), 'minute')}"
        )
        why = "Only `windvane serve` sends them; does it run?" if not tried else "Is whom they call there?"
        yield Finding("warning", None, said, why)
    lost = connection.execute(select(func.count()).where(deliveries.c.status == "given-up")).scalar_one()
    if lost:
        said = f"{counted(lost, 'webhook call')} given up after many attempts"
        yield Finding("warning", None, said, "`windvane webhook list` says which and why")
