"""Everything that can happen to a study, in random order, for as long as you like.

    python bench/fuzz.py                    # an hour
    python bench/fuzz.py --minutes 5 --seed 7

Ask, tell, fail, expire, retract, correct, reset and crash, beside a model in memory, which is
`windvane.testing.machine`. Rounds alternate between algorithms. The first story that goes wrong is made as
short as it can be and printed, with the seed that finds it again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from windvane.study import Study
from windvane.testing.machine import SPACE, StudyMachine

ROUND = 20  # stories


class OnDisk(StudyMachine):
    """A study in an SQLite file."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self._path = Path(self._folder.name) / "s.db"

    def create(self, **options: Any) -> Study:
        return Study.create(self._path, "s", SPACE, clock=self.clock, **options)

    def reopen(self, _study: Study) -> Study:
        return Study.open(self._path, "s", clock=self.clock)

    def teardown(self) -> None:
        super().teardown()
        self._folder.cleanup()


class Auto(OnDisk):
    """The default, told nothing."""

    algorithm = "auto"
    options = {"seed": 4}  # noqa: RUF012


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--steps", type=int, default=40, help="things that happen in a story, at most")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    until, number, stories = time.monotonic() + 60.0 * given.minutes, given.seed, 0
    how = settings(
        max_examples=ROUND,
        stateful_step_count=given.steps,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    while time.monotonic() < until:
        machine = (OnDisk, Auto)[number % 2]
        try:
            seed(number)(run_state_machine_as_test)(machine, settings=how)
        except Exception:
            print(f"went wrong: python bench/fuzz.py --minutes 0.01 --seed {number}", flush=True)
            raise
        number, stories = number + 1, stories + ROUND
        print(f"\r{stories} stories, all as they should be", end="", flush=True)
    print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
