"""Sections of the documentation whose figures a script in bench/ or examples/ measures, and their stamps.

    python bench/sections.py             # the names, and the command of each
    python bench/sections.py http        # the stamp of that section as the code is now, to put into the page

A stamp says which code measured what stands under a heading (windvane.experiments.stamp). Scripts that write
their section with --page write the stamp as well; the others print it after their figures. The stamp belongs
into the page together with the figures that were measured by that code, and never without them.
`docs/tools/evidence.py`, which `make test` ends with, lists the sections that have none or an older one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from windvane.experiments.stamp import Stamp, bench_stamp, section, stamps

ROOT = Path(__file__).resolve().parents[1]
PERFORMANCE = "docs/performance.md"
KEPT = ("storage", "study")  # what studies are made of
SERVED = (*KEPT, "service", "client")


@dataclass(frozen=True)
class Section:
    """What stands under a heading of a page: what measures it, in how many hours, and what it is about.

    `also` are parts of the package that have no influence on a run, but on this measurement. `written`: the
    command writes the section by itself.
    """

    page: str
    heading: str
    command: str
    hours: float
    also: tuple[str, ...] = ()
    written: bool = False

    @property
    def place(self) -> str:
        return f"{self.page}, {self.heading}"

    def text(self, root: Path = ROOT) -> str:
        """What stands there now; nothing if the heading is gone."""
        return section((root / self.page).read_text(encoding="utf-8"), self.heading) or ""

    def stamps(self, root: Path = ROOT) -> list[Stamp]:
        """Those in the page."""
        return stamps(self.text(root))

    def now(self) -> Stamp:
        """That of the code as it is."""
        return bench_stamp(*self.also)


SECTIONS = {
    "peers": Section(
        PERFORMANCE, "Beside other optimisers", f"make bench PAGE={PERFORMANCE}", 10.0, written=True
    ),
    "botorch": Section(PERFORMANCE, "Beside BoTorch", f"make bench PAGE={PERFORMANCE}", 0.3, written=True),
    "default": Section(PERFORMANCE, "`auto`, told nothing", "python bench/default.py", 0.05),
    "auto": Section(PERFORMANCE, "`auto` beside ET-GP-UCB", "python bench/auto.py", 0.1),
    "endless": Section(PERFORMANCE, "Streams that never end", "make endless", 0.5),
    "open": Section(PERFORMANCE, "Opening a study", "make open", 0.3, KEPT),
    "http": Section(PERFORMANCE, "Over HTTP", "make load", 0.1, SERVED),
    "optuna": Section(
        "docs/how-to/optuna.md",
        "Measured",
        "make optuna-bench PAGE=docs/how-to/optuna.md",
        0.75,
        ("integrations/optuna",),
        written=True,
    ),
    "demo": Section(
        "docs/what-holds.md", "Beside a static optimiser", "make demo", 0.02, ("experiments/demo.py",)
    ),
    "constraints": Section("docs/how-to/keep-a-limit.md", "Measured", "make constraints-bench", 4.0),
    "failures": Section("docs/how-to/failures.md", "Measured", "python bench/failures.py", 0.2),
    "moves": Section("docs/how-to/limit-moves.md", "Measured", "python bench/moves.py", 0.2),
    "candidates": Section(
        "docs/how-to/a-list-of-settings.md", "How long it may be", "python bench/candidates.py", 0.1
    ),
    "botorch-loop": Section(
        "docs/how-to/botorch.md",
        "What it brings",
        "python bench/botorch_loop.py --model given --seeds 6 --horizon 100",
        0.3,
        ("integrations/botorch",),
    ),
    "wearing-pid": Section(
        "examples/README.md", "A PID controller on a drive that wears", "python examples/wearing_pid.py", 0.1
    ),
    "cache": Section(
        "examples/README.md", "A cache under a shifting load", "python examples/cache_under_load.py", 0.3
    ),
    "demand": Section(
        "examples/README.md", "A price under changing demand", "python examples/changing_demand.py", 0.1
    ),
    "keep-cool": Section(
        "examples/README.md", "An oven that must not overheat", "python examples/keep_cool.py", 0.2
    ),
}


def stamp_of(name: str) -> Stamp:
    """The stamp of a section as the code is now."""
    return SECTIONS[name].now()


def computed_by(stamps: Iterable[str]) -> str:
    """What a page says of the code behind Windvane's own runs, each of which has a stamp or an empty one.

    Of commits with the same code one is named.

    >>> computed_by(["", "Computed by Windvane 1.0.0, commit 0123, code 89ab."])
    'Computed by Windvane 1.0.0, commit 0123, code 89ab. Of some runs it was not recorded.'
    """
    found = sorted(set(stamps))
    known = list({stamp.rpartition(", code ")[2]: stamp for stamp in found if stamp}.values())
    if not known:
        return "Which code made Windvane's runs was not recorded."
    return " ".join(known) + (" Of some runs it was not recorded." if "" in found else "")


def main() -> None:
    if len(sys.argv) == 1:
        for name, each in SECTIONS.items():
            print(f"{name:13} {each.place}: {each.command}")
    for name in sys.argv[1:]:
        if name not in SECTIONS:
            raise SystemExit(f"{name}: no such section; there are {', '.join(SECTIONS)}")
        print(stamp_of(name))


if __name__ == "__main__":
    main()
