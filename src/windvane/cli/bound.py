"""`windvane bound`: Theorem 1's regret bound term by term, Corollary 1's windows and orders."""

from __future__ import annotations

import argparse
import json
from typing import Any

from windvane.cli import terminal
from windvane.cli.reports import add_outputs
from windvane.cli.running import EXTRA
from windvane.cli.tables import draw
from windvane.cli.verbs import VerbParser
from windvane.experiments import bound
from windvane.experiments.regret_bounds import BoundProblem
from windvane.experiments.tables import TextTable
from windvane.extras import require

DESCRIPTION = """\
Theorem 1 bounds the regret of every algorithm that resets its data between N_low and N_high steps, and
Corollary 1 chooses this window from what is known of the rate of change eps. Here are the window, each
term of the bound, the trivial bound (what any algorithm could lose at most, with the same probability),
and whether the theorem says anything beside it. Domain [0, 1]^d, kernels of unit variance."""

EPILOG = """\
examples:
  windvane bound                                         the paper's within-model setting at eps = 0.03
  windvane bound --rate 0.03 --rates 0.01 0.05           eps is only known to lie between 0.01 and 0.05
  windvane bound --rate 1e-12 --horizon 1000             slow enough for the bound to say something
  windvane bound --kernel matern52 --dim 3 --lengthscale 0.3 --out bound
  windvane bound --json | jq .theorem1

With --out FOLDER: bound.md, bound.json, and the terms over eps and over T in figure.png and figure.pdf.
a0, b0, a1, b1 of Assumption 3 are derived from kernel, lengthscale and dimension unless you give them; the
paper leaves them open."""

OPTIONS = ("horizon", "kernel", "lengthscale", "dim", "noise_variance", "delta", "a0", "b0", "a1", "b1")


def register(verb: VerbParser) -> None:
    """The arguments of the verb."""
    verb.described(DESCRIPTION, EPILOG)
    verb.add_argument("--rate", type=float, default=0.03, help="eps per step (default: %(default)s)")
    verb.add_argument(
        "--rates", type=float, nargs=2, metavar=("LOW", "HIGH"), help="bounds on eps (default: eps itself)"
    )
    verb.add_argument("--horizon", type=int, default=400, metavar="T", help="steps (default: %(default)s)")
    verb.add_argument("--kernel", default="rbf", help="rbf or matern52 (default: %(default)s)")
    verb.add_argument("--lengthscale", type=float, default=0.2, help="default: %(default)s")
    verb.add_argument("--dim", type=int, default=2, metavar="D", help="default: %(default)s")
    verb.add_argument("--noise-variance", type=float, default=0.02, help="default: %(default)s")
    verb.add_argument(
        "--delta", type=float, default=0.1, help="the probability that the bound fails (default: %(default)s)"
    )
    for name in ("a0", "b0", "a1", "b1"):
        verb.add_argument(f"--{name}", type=float, help="of Assumption 3 (default: from the kernel)")
    add_outputs(verb, "a report and a figure")
    verb.set_defaults(run=run)


def run(given: argparse.Namespace) -> None:
    """Compute, write, show."""
    options = {name: getattr(given, name) for name in OPTIONS}
    rates = None if given.rates is None else (given.rates[0], given.rates[1])
    problem = BoundProblem.of(rate=given.rate, rates=rates, **options)
    if given.out is not None:
        bound.write(problem, given.out)
    if given.json:
        print(json.dumps(bound.plain(problem), indent=1))
        return
    console = terminal.console(extra=EXTRA)
    text = require("rich.text", EXTRA).Text
    for title, shown in bound.tables(problem):
        console.print(text(title, style="italic"))
        _show(console, shown)
    for sentence in bound.verdicts(problem):
        console.print(text(sentence), highlight=False)
    if given.out is not None:
        console.print(text(f"{given.out}: bound.md, bound.json, figure.png, figure.pdf"), soft_wrap=True)


def _show(console: Any, shown: TextTable) -> None:
    draw(
        console,
        shown.header,
        shown.rows,
        words=[n for n, heading in enumerate(shown.header) if n == 0 or heading == "meaning"],
        unbroken=(),
        bold=lambda row, _column: shown.rows[row][0] in ("Theorem 1", "window"),
    )
