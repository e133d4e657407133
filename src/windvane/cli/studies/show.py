"""`windvane study show`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from windvane.cli.studies import words
from windvane.cli.studies.common import add_verb, opened, say

if TYPE_CHECKING:
    from windvane.storage import Record
    from windvane.study import Study


def register(verbs: Any) -> None:
    """Add the verb."""
    add_verb(verbs, "show", run, "a study: its space, its counts, the trials that are out, the last reset")


def run(given: argparse.Namespace) -> None:
    """In words."""
    with opened(given) as study:
        summary, pending, space = study.summary(), study.pending(), study.space
        reset, undone = _last_reset(study)
    if given.json:
        out = [trial.as_dict() for trial in pending]
        say({**summary.as_dict(), "outstanding": out, "reset": reset and reset.as_dict()})
        return
    created = f"created {words.moment(summary.created)}, seed {summary.definition['seed']}"
    print(f"{summary.name}: {summary.algorithm}, {summary.goal}, {created}")
    for number, line in enumerate(words.space_lines(space)):
        print(f"{'' if number else 'space':<12}{line}")
    for number, (name, value) in enumerate(summary.definition["options"].items()):
        print(f"{'' if number else 'options':<12}{words.option(name, value)}")
    counts = f"{summary.tells}, of which {summary.size} in use; {summary.failed} failed"
    print(f"{'tells':<12}{counts}; last record {words.ago(summary.last_at)}")
    by_hand = f", of which {undone} undone by hand" if undone else ""
    print(f"{'resets':<12}{summary.resets}{by_hand}")
    if reset is not None:
        print(f"{'last reset':<12}step {reset.step}, {words.moment(reset.at)}: {words.line(reset.reason)}")
    print(f"{'out':<12}{len(pending) or 'no trial'}")
    for trial in pending:
        waited = f"asked {words.ago(trial.asked_at)}, {words.ahead(trial.expires_at)}"
        print(f"  trial {trial.number}: {words.point(trial.x, space)} ({waited})")


def _last_reset(study: Study) -> tuple[Record | None, int]:
    """The last reset that counts, and how many do not, since the value that made them was put right."""
    from windvane.storage import AMENDING  # an extra, which other verbs do without
    from windvane.study.amendments import resets_now

    amending = study.events(kinds=AMENDING)
    found = study.events(resets=True, newest=True, limit=None if amending else 1)
    if not amending:
        return next(iter(found), None), 0
    now = resets_now(found, amending)
    return (now[-1] if now else None), len({each.seq for each in found} - {each.seq for each in now})
