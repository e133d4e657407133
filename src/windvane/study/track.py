"""What was believed best at earlier steps: the journal says what was told, not what was made of it.

So the last tells are followed once more, on a copy, from the checkpoint before them; the optimiser is equal,
bit for bit, to what it was then. That takes about as long as the tells took, so callers say how many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from windvane.spelling import plain
from windvane.storage import journal
from windvane.storage.link import Link
from windvane.study.amendments import follow, right_values
from windvane.study.live import Live

FURTHER = 300  # records followed at most before the first that is asked about


@dataclass(frozen=True)
class Believed:
    """The point believed best after the tell `step`, whose record is `seq`, with mean and deviation."""

    seq: int
    step: int
    x: Any
    mean: float
    std: float


def track(
    link: Link, study_id: int, last: int, points: int, going: Callable[[], bool] = lambda: True
) -> list[Believed]:
    """What was believed best after about `points` of the `last` tells, as values count now; oldest first.

    Fewer tells are looked at where the checkpoint before them is far from them. It ends early, with what was
    found until then, once `going` says no.
    """
    with link.reading() as connection:
        tells = journal.read(connection, study_id, kinds=("told",), newest=True, limit=last)
        if not tells:
            return []
        live = Live.restore(*journal.checkpoint(connection, study_id, before=tells[0].seq))
        if tells[0].seq - live.head > FURTHER:
            live = Live.restore(*journal.checkpoint(connection, study_id))
        records = journal.read(connection, study_id, after=live.head)
        right = right_values(connection, study_id)
    followed = [record.seq for record in records if record.kind == "told" and record.seq >= tells[0].seq]
    every = max(1, -(-len(followed) // points))
    wanted = set(followed[::-1][::every])  # the last one is among them
    found = []
    for record in records:
        if not going():
            break
        event = follow(live, record, right)
        if event is None or record.seq not in wanted:
            continue
        optimizer = live.optimizer
        best = optimizer.best(live.not_before(None), context=optimizer.last_context)
        step = optimizer.step - 1
        found.append(Believed(record.seq, step, plain(best.x), float(best.mean), float(best.std)))
    return found
