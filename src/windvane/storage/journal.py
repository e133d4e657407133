"""Studies and their journals. Every function takes the connection of a transaction that a caller opened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    Connection,
    Integer,
    Row,
    String,
    Text,
    Update,
    bindparam,
    cast,
    delete,
    func,
    insert,
    select,
    text,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.types import TypeEngine

from windvane.errors import Conflict, UnknownName
from windvane.protocol.records import Record, Summary
from windvane.storage import turns
from windvane.storage.prepared import Prepared
from windvane.storage.records import dumps, listed_summary, record_of, row_of, summary_of
from windvane.storage.schema import checkpoints, deliveries, events, studies, webhooks

STRETCH = 128  # records: about as many as there are between two checkpoints


def _whole(kind: TypeEngine[Any]) -> TypeEngine[Any]:
    """The type to cast to: to one of a certain length would cut off what is longer."""
    return Text() if isinstance(kind, String) else kind


OWN = studies.c.id == bindparam("study")
KEYED = select(events.c.seq).where(
    events.c.study_id == bindparam("study"), events.c.key == bindparam("sought")
)
HEAD = Prepared(select(studies.c.head).where(OWN))
HEAD_AND_KEYED = Prepared(select(studies.c.head, KEYED.scalar_subquery()).where(OWN))
MOVED = (
    update(studies)
    .where(studies.c.id == bindparam("study"), studies.c.head == bindparam("before"))
    .values(
        head=bindparam("head"),
        last_at=bindparam("last_at"),
        pending=bindparam("pending"),
        size=bindparam("size"),
        trials=studies.c.trials + bindparam("asked"),
        tells=studies.c.tells + bindparam("told"),
        failed=studies.c.failed + bindparam("failed"),
        resets=studies.c.resets + bindparam("resets"),
        last_reset=func.coalesce(bindparam("last_reset", type_=Integer), studies.c.last_reset),
        violations=studies.c.violations + bindparam("violations"),
        last_violation=func.coalesce(bindparam("last_violation", type_=Integer), studies.c.last_violation),
        last_retreat=func.coalesce(bindparam("last_retreat", type_=Integer), studies.c.last_retreat),
    )
)
WRITE = Prepared(insert(events))
WRITE_UNLESS_KEYED = Prepared(postgresql.insert(events).on_conflict_do_nothing())
NOBODY_WAITS = text(f"pg_try_advisory_xact_lock({turns.KEYS})")  # nor makes a step in turn


def _and_write(moved: Update) -> Prepared:
    """Move the head and write a record at once, for PostgreSQL: there a statement is a way to the server.

    No record is written if there is one under its key.
    """
    values = (cast(bindparam(f"new_{column.name}"), _whole(column.type)) for column in events.c)
    row = moved.returning(studies.c.id).cte("moved")
    new = postgresql.insert(events).from_select([c.name for c in events.c], select(*values).select_from(row))
    return Prepared(new.on_conflict_do_nothing())


MOVE, MOVE_AND_WRITE = Prepared(MOVED), _and_write(MOVED)
MOVE_OUT_OF_TURN = Prepared(MOVED.where(NOBODY_WAITS))
MOVE_AND_WRITE_OUT_OF_TURN = _and_write(MOVED.where(NOBODY_WAITS))


class Stale(Exception):
    """Somebody else has written to this study since its journal was read, under this very key perhaps, or is
    about to.
    """


class NameTaken(Conflict):
    """There is a study of that name already, perhaps since this very moment."""

    def __init__(self, name: str) -> None:
        super().__init__(f"name={name!r}: there is a study of that name already; open it, or choose another")


def exists(connection: Connection, name: str) -> bool:
    """Whether there is a study of that name."""
    return connection.execute(select(studies.c.id).where(studies.c.name == name)).first() is not None


def create(connection: Connection, name: str, definition: dict[str, Any], state: Any, at: float) -> int:
    """A new study with an empty journal; `state` is its checkpoint at 0."""
    if exists(connection, name):
        raise NameTaken(name)
    counters = dict.fromkeys(("head", "trials", "pending", "tells", "resets", "failed", "size"), 0)
    row = {
        "name": name,
        "algorithm": definition["algorithm"],
        "goal": definition["goal"],
        "created": at,
        "definition": dumps(definition),
        **counters,
    }
    new = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(studies).values(**row)
    study_id = connection.execute(new.on_conflict_do_nothing().returning(studies.c.id)).scalar()
    if study_id is None:
        raise NameTaken(name)
    connection.execute(insert(checkpoints).values(study_id=study_id, seq=0, state=dumps(state)))
    return int(study_id)


def made(connection: Connection, name: str, definition: Mapping[str, Any], at: float) -> bool:
    """Whether there is this very study, made then."""
    row = connection.execute(select(studies).where(studies.c.name == name)).first()
    return row is not None and (row.created, row.definition) == (at, dumps(definition))


def summaries(connection: Connection, after: str = "", limit: int | None = None) -> list[Summary]:
    """Studies by name, those after a name; one that is damaged says so, and keeps nobody from the others."""
    rows = select(studies).where(studies.c.name > after).order_by(studies.c.name).limit(limit)
    return [listed_summary(row) for row in connection.execute(rows)]


def find(connection: Connection, name: str) -> Summary:
    """A study by name."""
    return summary_of(_row(connection, name))


def _row(connection: Connection, name: str) -> Row[Any]:
    sound = isinstance(name, str) and name.isprintable()  # databases choke on NUL and lone surrogates
    row = connection.execute(select(studies).where(studies.c.name == name)).first() if sound else None
    if row is None:
        raise UnknownName(f"study {name!r}: there is no study of that name in this database")
    return row


def lock(connection: Connection, study_id: int) -> None:
    """Keep all others from writing to this study. On SQLite a writer is alone anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(select(studies.c.id).where(studies.c.id == study_id).with_for_update()).first()


def head(connection: Connection, study_id: int) -> int:
    """The number of the last record, 0 if there is none."""
    found = HEAD.run(connection, {"study": study_id}).fetchone()
    if found is None:
        raise UnknownName("the study was deleted")
    return int(found[0])


def read(
    connection: Connection,
    study_id: int,
    *,
    after: int = 0,
    up_to: int | None = None,
    limit: int | None = None,
    kinds: Iterable[str] | None = None,
    resets: bool = False,
    violations: bool = False,
    outcome_resets: bool = False,
    newest: bool = False,
) -> list[Record]:
    """Records in order; with `newest` the last `limit` of them.

    `resets`, `violations` and `outcome_resets`: only those at which there was one.
    """
    wanted = select(events).where(events.c.study_id == study_id, events.c.seq > after)
    if up_to is not None:
        wanted = wanted.where(events.c.seq <= up_to)
    if kinds is not None:
        wanted = wanted.where(events.c.kind.in_(tuple(kinds)))
    if resets:
        wanted = wanted.where(events.c.reset)
    if violations:
        wanted = wanted.where(events.c.violated.is_not(None))
    if outcome_resets:
        wanted = wanted.where(events.c.outcome_resets.is_not(None))
    wanted = wanted.order_by(events.c.seq.desc() if newest else events.c.seq).limit(limit)
    found = [record_of(row._mapping) for row in connection.execute(wanted)]
    return found[::-1] if newest else found


def of_trial(connection: Connection, study_id: int, trial: int) -> list[Record]:
    """All records of one trial, in order."""
    rows = select(events).where(events.c.study_id == study_id, events.c.trial == trial)
    return [record_of(row._mapping) for row in connection.execute(rows.order_by(events.c.seq))]


def head_and_keyed(connection: Connection, study_id: int, key: str | None) -> tuple[int, int | None]:
    """The number of the last record, and of the one that was written under an idempotency key."""
    found = HEAD_AND_KEYED.run(connection, {"study": study_id, "sought": key}).fetchone()
    if found is None:
        raise UnknownName("the study was deleted")
    return int(found[0]), found[1]


def one(connection: Connection, study_id: int, seq: int) -> Record:
    """A record by its number."""
    return read(connection, study_id, after=seq - 1, up_to=seq)[0]


def holds(connection: Connection, study_id: int, records: Sequence[Record]) -> bool:
    """Whether these very records are in the journal, once whoever writes to it now is done."""
    lock(connection, study_id)
    found = read(connection, study_id, after=records[0].seq - 1, up_to=records[-1].seq)
    return [row_of(record, study_id) for record in found] == [row_of(record, study_id) for record in records]


def keys(connection: Connection, study_id: int, prefix: str) -> list[str]:
    """The idempotency keys that begin like this."""
    own = (events.c.study_id == study_id, events.c.key.is_not(None))
    found = connection.execute(
        select(events.c.key).where(*own, events.c.key.startswith(prefix, autoescape=True))
    )
    return [str(key) for key in found.scalars()]


def checkpoint(connection: Connection, study_id: int, before: int | None = None) -> tuple[int, str]:
    """The newest checkpoint: the number of the last record in it, and the state as JSON.

    With `before`, the newest that does not have that record in it.
    """
    rows = select(checkpoints.c.seq, checkpoints.c.state).where(checkpoints.c.study_id == study_id)
    if before is not None:
        rows = rows.where(checkpoints.c.seq < before)
    found = connection.execute(rows.order_by(checkpoints.c.seq.desc()).limit(1)).first()
    if found is None:
        raise UnknownName("the study was deleted")
    return int(found[0]), str(found[1])


def append(
    connection: Connection,
    study_id: int,
    before: int,
    records: Sequence[Record],
    *,
    size: int,
    pending: int,
    state: Any | None = None,
    stale_from: int | None = None,
    states: Mapping[int, Any] | None = None,
    redefined: tuple[Mapping[str, Any], Any] | None = None,
    in_turn: bool = True,
) -> None:
    """Write records that build on the head `before`; `Stale` if it is no longer that.

    If it is not their turn (`in_turn`), `Stale` also if somebody else has or awaits it, or has used a key of
    theirs: PostgreSQL only.

    In the same transaction a reset or a violation leaves a delivery for each webhook that wants it, and
    `state` becomes the checkpoint.
    `stale_from` is the first record that counts otherwise from now on, if there is one: see `keep`; `states`
    are then checkpoints of records since.
    `redefined` is another definition of the study, and its state before the first record.
    """
    kinds = [record.kind for record in records]
    changed = [record for record in records if record.reset]
    beyond = [record for record in records if record.violated]
    retreats = [record for record in records if (record.event or {}).get("retreat") is not None]
    last = records[-1]
    values = {
        "study": study_id,
        "before": before,
        "head": last.seq,
        "last_at": last.at,
        "pending": pending,
        "size": size,
        "asked": kinds.count("asked"),
        "told": kinds.count("told"),
        "failed": kinds.count("failed"),
        "resets": len(changed),
        "last_reset": changed[-1].step if changed else None,
        "violations": len(beyond),
        "last_violation": beyond[-1].step if beyond else None,
        "last_retreat": retreats[-1].step if retreats else None,
    }
    rows = [row_of(record, study_id) for record in records]
    at_once = len(rows) == 1 and connection.dialect.name == "postgresql"
    if at_once:
        new = {f"new_{name}": value for name, value in rows[0].items()}
        moved = (MOVE_AND_WRITE if in_turn else MOVE_AND_WRITE_OUT_OF_TURN).run(connection, {**values, **new})
    else:
        moved = (MOVE if in_turn else MOVE_OUT_OF_TURN).run(connection, values)
    if moved.rowcount == 0:
        raise Stale
    if not at_once:
        written = (WRITE if in_turn else WRITE_UNLESS_KEYED).run_many(connection, rows)
        if written.rowcount < len(rows):
            raise Stale
    for record in records:
        for kind, happened in (("reset", record.reset), ("violation", bool(record.violated))):
            if happened:
                _announce(connection, study_id, record, kind)
    if redefined is not None:
        definition, start = redefined
        now = update(studies).where(studies.c.id == study_id).values(definition=dumps(dict(definition)))
        connection.execute(now)
        keep(connection, study_id, {**(states or {}), 0: start, last.seq: state})
    elif state is not None:
        keep(connection, study_id, {**(states or {}), last.seq: state}, stale_from=stale_from)


def keep(
    connection: Connection, study_id: int, states: Mapping[int, Any], *, stale_from: int | None = None
) -> None:
    """Make these checkpoints; with one at 0 they are all there is, else some of the older ones stay.

    Those of records from `stale_from` on are of a history that counts no longer, and go.
    """
    own = checkpoints.c.study_id == study_id
    if 0 in states:
        connection.execute(delete(checkpoints).where(own))
    else:
        if stale_from is not None:
            connection.execute(delete(checkpoints).where(own, checkpoints.c.seq >= max(stale_from, 1)))
        older = (
            connection.execute(select(checkpoints.c.seq).where(own, checkpoints.c.seq > 0)).scalars().all()
        )
        gone = set(older) - worth_keeping([*older, *states])
        if gone:
            connection.execute(delete(checkpoints).where(own, checkpoints.c.seq.in_(gone)))
    rows = [{"study_id": study_id, "seq": seq, "state": dumps(state)} for seq, state in states.items()]
    connection.execute(insert(checkpoints), rows)


def worth_keeping(seqs: Iterable[int]) -> set[int]:
    """The checkpoints that leave at most a few times as far to go back as the record that is sought is away.

    The newest, and of each of the last two stretches of 128 records, of 256, of 512 and so on, the oldest.

    >>> sorted(worth_keeping(range(100, 2001, 100)))
    [100, 1100, 1600, 1800, 2000]
    """
    newest_first = sorted(seqs, reverse=True)
    found, width = set(newest_first[:1]), STRETCH
    while newest_first and width <= 2 * newest_first[0]:
        oldest = {seq // width: seq for seq in newest_first}
        found |= {oldest[stretch] for stretch in sorted(oldest)[-2:]}
        width *= 2
    return found


def _announce(connection: Connection, study_id: int, record: Record, kind: str) -> None:
    hooks = select(webhooks.c.id).where(
        (webhooks.c.study_id == study_id) | webhooks.c.study_id.is_(None), webhooks.c.kinds.contains(kind)
    )
    hooks = hooks.with_for_update(read=True, key_share=True)  # a tell must not fail because a webhook goes
    rows = [
        {
            "webhook_id": hook,
            "study_id": study_id,
            "seq": record.seq,
            "kind": kind,
            "status": "due",
            "attempts": 0,
            "not_before": record.at,
            "error": "",
        }
        for hook in connection.execute(hooks).scalars()
    ]
    if rows:
        connection.execute(insert(deliveries), rows)


def remove(connection: Connection, name: str) -> None:
    """Delete a study and everything about it, also if it is damaged."""
    study_id = _row(connection, name).id
    lock(connection, study_id)
    for table in (deliveries, webhooks, events, checkpoints):
        connection.execute(delete(table).where(table.c.study_id == study_id))
    connection.execute(delete(studies).where(studies.c.id == study_id))


def count(connection: Connection) -> int:
    """How many studies there are."""
    return int(connection.execute(select(func.count()).select_from(studies)).scalar_one())
