"""The course of a study in as many records as a picture can show: extremes, and every reset."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, bindparam, select

from windvane.protocol.records import Record
from windvane.storage.prepared import Prepared
from windvane.storage.records import record_of
from windvane.storage.schema import events

TELLS = Prepared(
    select(events.c.seq, events.c.y)
    .where(
        events.c.study_id == bindparam("study"),
        events.c.kind == bindparam("sort"),
        events.c.seq <= bindparam("head"),
    )
    .order_by(events.c.seq)
)
BATCH = 500  # records asked for by number at once


def sampled(connection: Connection, study_id: int, points: int, head: int) -> list[Record]:
    """About `points` of the tells up to the record `head`, in order; all of them if there are no more.

    Of each stretch the lowest and the highest value stay, and so do the last tell and the last resets.
    """
    tells = TELLS.run(connection, {"study": study_id, "head": head, "sort": "told"}).fetchall()
    chosen = {int(tells[index][0]) for index in extremes([float(y) for _, y in tells], points)}
    if len(chosen) < len(tells):
        own = (events.c.study_id == study_id, events.c.kind == "told", events.c.reset, events.c.seq <= head)
        resets = select(events.c.seq).where(*own).order_by(events.c.seq.desc()).limit(points)
        chosen.update(connection.execute(resets).scalars())
    wanted, found = sorted(chosen), []
    for start in range(0, len(wanted), BATCH):
        some = events.c.seq.in_(wanted[start : start + BATCH])
        rows = select(events).where(events.c.study_id == study_id, some).order_by(events.c.seq)
        found += [record_of(row._mapping) for row in connection.execute(rows)]
    return found


def extremes(values: Sequence[float], points: int) -> list[int]:
    """The places of about `points` of the values: of each stretch the lowest and the highest, and the last.

    >>> extremes([3, 1, 2, 9, 5, 4, 8, 7], 4)
    [1, 3, 5, 6, 7]
    >>> extremes([3, 1, 2], 4)
    [0, 1, 2]
    """
    if len(values) <= points:
        return list(range(len(values)))
    stretches = max(1, points // 2)
    found = {len(values) - 1}
    for index in range(stretches):
        places = range(index * len(values) // stretches, (index + 1) * len(values) // stretches)
        found |= {min(places, key=values.__getitem__), max(places, key=values.__getitem__)}
    return sorted(found)
