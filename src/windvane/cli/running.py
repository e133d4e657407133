"""What the verbs that run trials share: their arguments, the workers, the progress bar, the folder."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from windvane.checks import integer
from windvane.cli import terminal
from windvane.digits import counted
from windvane.errors import AlgorithmFailed, InvalidArgument
from windvane.experiments.evidence import Adopted
from windvane.experiments.execution import execute
from windvane.experiments.executors import Dask, Processes, Workers
from windvane.experiments.measures import Result
from windvane.experiments.store import Store
from windvane.experiments.trial import RunSpec
from windvane.extras import require
from windvane.files import writing

EXTRA = "experiments"


def add_arguments(verb: argparse.ArgumentParser, out: str, few: str = "a few runs each") -> None:
    """--quick, --jobs, --dask, --seed and --out; `out` is the folder unless another is given."""
    verb.add_argument("--quick", action="store_true", help=f"{few}: shapes, not figures to quote")
    cores = os.cpu_count() or 1
    verb.add_argument("--jobs", type=int, default=cores, help="local processes (default: cores)")
    verb.add_argument("--dask", metavar="ADDRESS", help="run on an existing Dask cluster instead")
    verb.add_argument("--seed", type=int, default=0, help="the first seed (default: 0)")
    verb.add_argument("--out", type=Path, default=Path(out), help="folder (default: %(default)s)")


def add_data(verb: argparse.ArgumentParser) -> None:
    """--data."""
    verb.add_argument("--data", type=Path, help="folder with the temperature and stock data")


def first_seed(given: argparse.Namespace) -> int:
    """--seed, checked; and --runs, if it was given."""
    if given.runs is not None:
        integer("--runs", given.runs, at_least=1)
    return integer("--seed", given.seed, at_least=0)


def data_folder(given: argparse.Namespace) -> Path | None:
    """--data, if it was given and is there; a file will do where a single data set is read."""
    if given.data is None:
        return None
    if not given.data.exists():
        raise InvalidArgument(f"--data {given.data}: there is no such file or folder")
    return Path(given.data).resolve()


def command(verb: str, **options: Any) -> str:
    """The command that gives this again, without what is None or False and without folders of this machine.

    >>> command("bench", tasks=["jumps", "rough"], quick=True, seed=None, markdown=Path("/home/ada/page.md"))
    'windvane bench --tasks jumps rough --quick --markdown page.md'
    """
    parts = ["windvane", *verb.split()]
    for name, value in options.items():
        if value is None or value is False:
            continue
        parts.append(f"--{name.replace('_', '-')}")
        if isinstance(value, Path):
            parts.append(value.name if value.is_absolute() else value.as_posix())
        elif value is not True:
            parts += map(str, value) if isinstance(value, list) else [str(value)]
    return shlex.join(parts)


def workers_for(given: argparse.Namespace) -> Workers:
    """The cluster of --dask, else as many processes as --jobs."""
    if given.dask is not None:
        return Dask(given.dask)
    return Processes(integer("--jobs", given.jobs, at_least=1))


def console_for(given: argparse.Namespace) -> Any:
    """Where to talk: standard error if standard output is for JSON. Missing extras are reported now."""
    for module in ("pyarrow", "matplotlib"):
        require(module, EXTRA)
    return terminal.console(extra=EXTRA, stderr=getattr(given, "json", False))


def writable(out: Path) -> None:
    """Make the folder, and see that files can be written there before anything is computed."""
    with writing(f"--out {out}", "choose a folder you can write to"):
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".writable"
        probe.touch()
        probe.unlink()


@contextlib.contextmanager
def progress(what: str, out: Path | None) -> Iterator[Callable[[int, int], None]]:
    """Called with (done, total); at 0, when all is validated and nothing has run, the folder is made."""
    with contextlib.ExitStack() as stack:
        bars = terminal.bars(EXTRA)
        bar = bars.add_task(what, note="")

        def on_progress(done: int, total: int) -> None:
            if done == 0:
                if out is not None:
                    writable(out)
                stack.enter_context(bars)
            bars.update(bar, completed=done, total=total)

        yield on_progress


def watched(
    name: str,
    trials: Sequence[RunSpec],
    store: Store,
    workers: Workers,
    *,
    period: float = terminal.RECENT,
    on_kept: Callable[[int], None] | None = None,
) -> dict[RunSpec, Result]:
    """The results, with a bar that knows how long it will take; `on_kept` hears how many were there."""
    kept = f"finished runs are kept in {store.path}; the same command continues where it stopped"
    with terminal.bars(EXTRA, period) as bars, terminal.resumable(kept):
        bar = bars.add_task(name, total=len(trials), note="")

        def begun(kept: int) -> None:
            if on_kept is not None:
                on_kept(kept)
            bars.reset(bar, completed=kept)

        return execute(
            trials, store, workers, on_kept=begun, on_done=lambda _trial, _result: bars.advance(bar)
        )


def said_of(console: Any, what: str, found: Adopted) -> None:
    """How many kept runs count, on which grounds, and which do not; `what` was taken up."""
    checked = f", {counted(found.checked, 'cell')} checked by runs made anew" if found.checked else ""
    console.print(f"{what}{checked}.", highlight=False, markup=False)
    for cell in found.changed:
        console.print(f"  comes out otherwise now: {cell}", highlight=False, markup=False)
    if found.changed:
        console.print(
            "  All runs of such an algorithm are made again. (Another kind of processor rounds otherwise.)",
            highlight=False,
            markup=False,
        )


@contextlib.contextmanager
def kept_traceback(out: Path) -> Iterator[None]:
    """If an algorithm fails inside, in a file, for whoever wrote it; the message stays short."""
    try:
        yield
    except AlgorithmFailed as error:
        if error.traceback:
            with contextlib.suppress(OSError):
                (out / "traceback.txt").write_text(error.traceback, encoding="utf-8")
                error.add_note(f"the whole traceback is in {out / 'traceback.txt'}; finished runs are kept")
        raise
