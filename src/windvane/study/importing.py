"""Telling a study a whole log: in batches, each on disk as a whole with a note of how far it got.

The note is the key of a batch's last record: the digest of the file, how it is read, which time it is told,
and how many of its observations are in the journal by then. So an import that was cut goes on behind the last
batch, and one that was finished is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from sqlalchemy import Connection

from windvane.errors import Conflict
from windvane.storage import journal
from windvane.storage.link import Link
from windvane.study.live import UnwrittenStep
from windvane.study.logs import LogFile, LogObservation
from windvane.study.session import Session

BATCH = 256  # observations in one transaction
PREFIX = "import"


class Before(NamedTuple):
    """How far the last import of a file came: which time it was told, in what manner, how many."""

    round: int
    manner: str
    told: int


def tell_all(
    session: Session,
    link: Link,
    log: LogFile,
    *,
    again: bool,
    on_progress: Callable[[int, int], None] | None,
) -> int:
    """Tell what was not told before; returns how many observations that were."""
    digest, total = log.digest, log.observations
    before = _before(session, link, digest)
    if before is not None and (before.told == total or before.manner != log.manner):
        if not again:
            part = "" if before.told == total else f" in part ({before.told} observations) and otherwise read"
            raise Conflict(
                f"{log.path}: was imported before{part}, and would count twice; nothing was told. To tell it "
                "once more: again=True, or --again in a shell"
            )
        before = Before(before.round + 1, log.manner, 0)
    elif before is None:
        before = Before(1, log.manner, 0)
    if not before.told and not again:
        _refuse_the_past(session, log)
    rows, told = log.rows(), before.told
    for _ in islice(rows, told):
        pass
    if on_progress is not None:
        on_progress(told, total)
    while told < total:
        batch = list(islice(rows, BATCH))
        log.check_unchanged()
        told += len(batch)
        key = f"{PREFIX}:{digest}:{before.round}:{log.manner}:{told}"
        _tell(session, batch, key, _rest(rows, log) if told == total else ())
        if on_progress is not None:
            on_progress(told, total)
    return total - before.told


def _rest(rows: Iterator[LogObservation], log: LogFile) -> tuple[str, ...]:
    """The resets after the last observation, known when the log has been read to its end."""
    for _ in rows:
        log.check_unchanged()
    return log.last_resets


def _tell(session: Session, batch: Sequence[LogObservation], key: str, last_resets: Sequence[str]) -> None:
    def work(step: UnwrittenStep, connection: Connection) -> None:
        if session.before(step, connection, "told") is not None:
            raise Conflict(f"key={key!r}: somebody else is importing the same log; nothing was told twice")
        for number, row in enumerate(batch, start=1):
            for why in row.resets:
                step.reset(why)
            mark = key if number == len(batch) else None
            step.tell(row.x, row.measured, row.time, metadata=row.metadata, key=mark)
        for why in last_resets:
            step.reset(why)

    session.write(work, key=key)


def _before(session: Session, link: Link, digest: str) -> Before | None:
    """What the journal says of earlier imports of a file."""
    start = f"{PREFIX}:{digest}:"
    with link.reading() as connection:
        keys = journal.keys(connection, session.id, start)
    found = [key.removeprefix(start).split(":") for key in keys]
    return max(
        (Before(int(number), manner, int(told)) for number, manner, told in found),
        key=lambda each: (each.round, each.told),
        default=None,
    )


def _refuse_the_past(session: Session, log: LogFile) -> None:
    """An error if the log begins before the last observation: the model's time does not go back."""
    if log.first_time is None:
        return
    last = session.snapshot().optimizer.last_time
    if last is not None and log.first_time < last:
        raise Conflict(
            f"{log.path}: begins at time {log.first_time!r}, before the last observation of the study, at "
            f"{last!r}: time would run backwards, and all before that would count as measured then. To tell "
            "it all the same: again=True, or --again in a shell"
        )
