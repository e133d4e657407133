"""`windvane study show`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from windvane.cli.studies import words
from windvane.cli.studies.common import opened, say, set_up
from windvane.cli.verbs import VerbParser
from windvane.moments import place_text
from windvane.protocol.checks import space_of

if TYPE_CHECKING:
    from windvane.storage import Record
    from windvane.study import Study


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    set_up(verb, run)


def run(given: argparse.Namespace) -> None:
    """In words."""
    with opened(given) as study:
        summary, pending, space = study.summary(), study.pending(), space_of(study.definition)
        reset, undone = _last_reset(study)
    if given.json:
        out = [trial.as_dict() for trial in pending]
        say({**summary.as_dict(), "outstanding": out, "reset": reset and reset.as_dict()})
        return
    created = f"created {words.utc(summary.created)}, seed {summary.definition['seed']}"
    print(f"{summary.name}: {summary.algorithm}, {summary.goal}, {created}")
    for number, line in enumerate(words.space_lines(space)):
        print(f"{'' if number else 'space':<12}{line}")
    for number, line in enumerate(words.constraint_lines(summary)):
        print(f"{'' if number else 'constraints':<12}{line}")
    options = {n: v for n, v in summary.definition["options"].items() if n not in ("constraints", "safe")}
    for number, (name, value) in enumerate(options.items()):
        print(f"{'' if number else 'options':<12}{words.option(name, value)}")
    counts = f"{summary.tells}, of which {summary.size} in use; {summary.failed} failed"
    print(f"{'tells':<12}{counts}; last record {words.ago(summary.last_at)}")
    by_hand = f", of which {undone} undone by hand" if undone else ""
    print(f"{'resets':<12}{summary.resets}{by_hand}")
    if reset is not None:
        place = place_text(reset.step or 0, reset.clock)
        recorded = f"recorded {words.utc(reset.at)}"
        print(f"{'last reset':<12}{place}, {recorded}: {words.line(reset.reason)}")
    if summary.constraints:
        last = f", last at step {summary.last_violation}" if summary.violations else ""
        print(f"{'violations':<12}{summary.violations}{last}")
    if summary.last_retreat is not None:
        print(f"{'retreat':<12}nothing was believed safe after step {summary.last_retreat}")
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
