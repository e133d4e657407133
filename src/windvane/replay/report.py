"""The report of a replay: as text, as data, as a picture."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from windvane.checks import one_of
from windvane.data import Event
from windvane.digits import estimate, number
from windvane.moments import is_date, span_text, time_text
from windvane.notebook import shown
from windvane.plots.report import Report, ReportTable
from windvane.replay.account import LEVELS, Account, Coverage, EstimateWithError, finite
from windvane.replay.figure import draw
from windvane.replay.layout import OUTCOME
from windvane.replay.limits import BELIEVED, ConstraintAccount, held_text, resets_text, steps_text
from windvane.replay.log import Log
from windvane.spaces import Box, Domain, Space
from windvane.spelling import parameter_text, plain
from windvane.unit_labels import units_of

OFF_POLICY = (
    "Off-policy: all algorithms were told the same measurements, which somebody else had chosen. This is how "
    "well each predicts and when it raises an alarm; what it would have measured instead is not in the log, "
    "and no regret can be had from it."
)


OF_LIMITS = (
    "The probability that a limit holds is that of the quantity without noise, believed before the value was "
    "seen; whether it did is said of the value, noise included, so that close to a limit it does less often."
)
MADE = (  # of a measurement, in a table
    *("y", "mean", "std", "noise_variance", "log_density", "statistic", "threshold"),
    *("reset", "set_aside", "outlier", "reason", "kept", "size"),
)
SAID = ("value", "mean", "std", "probability", "violated", "reset")  # of an outcome, in a table


@dataclass(frozen=True, eq=False)
class Replay(Report):
    """What `replay` found: print it, plot it, or take `accounts`, one an algorithm, with all their events."""

    log: Log
    space: Domain
    guessed: bool  # whether the space was guessed from the log
    goal: str
    warmup: int
    accounts: tuple[Account, ...]

    def __getitem__(self, label: str) -> Account:
        known = {account.label: account for account in self.accounts}
        return known[one_of("algorithm", label, known)]

    def __len__(self) -> int:
        return len(self.log)

    def plot(self) -> Any:
        """A matplotlib Figure; `.savefig("name.png")` keeps it."""
        return draw(self.accounts, self.log)

    # -- as text -------------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        return self.about

    @property
    def about(self) -> str:
        """The log in a line."""
        count = len(self.log)
        times = (
            ""
            if self.log.times is None
            else f" from {' to '.join(time_text(self.log.times[row]) for row in (0, -1))}"
        )
        space = "" if self.guessed else f"; {space_text(self.space)}"
        return f"{self.log.source}: {count} measurements{times}, {self.goal}{space}"

    @property
    def tables(self) -> list[ReportTable]:
        """Two tables, narrow enough for a terminal each: what was predicted, and how surely."""
        first, several = self.accounts[0], len(self.accounts) > 1
        scores: list[tuple[str, ...]] = [("", "algorithm"), ("", "resets"), ("ln p(y)", "per measurement")]
        scores += [("ahead of", first.label)] if several else []
        scores += [("", "RMSE"), ("ms", "per step")]
        sureness: list[tuple[str, ...]] = [
            ("", "algorithm"),
            *((f"{100 * level:.0f} % interval", "covers") for level in LEVELS),
        ]
        sureness += [("residuals", "mean"), ("", "variance")]
        told, sure = [], []
        for account in self.accounts:
            ahead = "–" if account is first else figure_text(account.ahead_of(first))
            row = [account.label, str(len(account.resets)), figure_text(account.log_density)]
            row += [ahead] if several else []
            told.append([*row, f"{account.rmse:.4g}", f"{1e3 * float(account.seconds.mean()):.2f}"])
            covered = [coverage_text(account.coverage(level)) for level in LEVELS]
            spread = [figure_text(account.residual_mean), figure_text(account.residual_variance)]
            sure.append([account.label, *covered, *spread])
        tables = [ReportTable(scores, told), ReportTable(sureness, sure)]
        return [*tables, *([self._limits_table()] if self._limits else [])]

    @property
    def _limits(self) -> list[tuple[Account, ConstraintAccount]]:
        """The constraints of each algorithm."""
        return [(account, each) for account in self.accounts for each in account.constraints.values()]

    def _limits_table(self) -> ReportTable:
        """How far the probability that a limit holds was to be believed."""
        headings: list[tuple[str, ...]] = [("", "algorithm"), ("", "limit"), ("", "violated"), ("", "resets")]
        headings += [("holds,", "believed"), ("", "and did")]
        headings += [(f"where believed >= {100 * level:.0f} %", "it did") for level in BELIEVED[1:]]
        rows = []
        for account, each in self._limits:
            overall = each.held()
            rows.append(
                [
                    *(account.label, f"{each.name} {each.constraint}", str(len(each.violations))),
                    *(str(len(each.resets)), f"{100 * overall.expected:.0f} %" if overall.total else "–"),
                    *(held_text(each.held(level)) for level in (0.0, *BELIEVED[1:])),
                ]
            )
        return ReportTable(headings, rows)

    @property
    def violations(self) -> list[str]:
        """Which measurements were beyond a limit; the same of every algorithm that has the limit."""
        lines = {}
        for _, each in self._limits:
            steps, label = each.violations, f"{each.name} {each.constraint}"
            count = f"{len(steps)} of {len(each.outcomes)} measurements" if steps else "never"
            lines[label] = f"{label}: violated {f'at {count}, {steps_text(steps)}' if steps else count}"
        return list(lines.values())

    @property
    def resets(self) -> list[str]:
        """When each algorithm would have reset, and why."""
        lines = []
        for account in self.accounts:
            events = account.reset_events
            if not events:
                lines.append(f"{account.label}: no reset")
                continue
            lines.append(f"{account.label}: {len(events)} reset{'s' if len(events) > 1 else ''}")
            lines += resets_text([(event.step, event.time, event.reason) for event in events])
        for account, each in self._limits:
            count = len(each.resets)
            some = f"{count} reset{'s' if count > 1 else ''}" if count else "no reset"
            lines.append(f"{account.label}, {each.name}: {some}")
            lines += each.text()
        return lines

    @property
    def beliefs(self) -> list[str]:
        """What each algorithm believes best in the end."""
        lines, units = [], units_of(self.space)
        for account in self.accounts:
            best, size = account.best, account.events[-1].size
            held = ", the last measurement set aside" if account.events[-1].set_aside else ""
            within = "" if best.feasible is None else f", within the limits with {100 * best.feasible:.0f} %"
            lines.append(
                f"{account.label}: best at {shown(best.x, units)}, {estimate(best.mean, best.std)} "
                f"(from {size} of {len(self.log)} measurements{held}){within}"
            )
        return lines

    @property
    def findings(self) -> list[list[str]]:
        """Resets, violations and beliefs."""
        return [self.resets, self.violations, self.beliefs]

    @property
    def warnings(self) -> list[str]:
        """What the reader must know before believing anything."""
        found = list(self.log.notes)
        if self.guessed:
            found.insert(
                0,
                f"SPACE GUESSED: {space_text(self.space)}, the range of what was measured. The true bounds "
                "are not in the log, and lengthscales, and so all figures, depend on them; give the space to "
                "be sure.",
            )
        if self.log.times is not None and len(self.log) > 1:
            usual = float(np.median(np.diff(self.log.times)))
            if not 0.5 <= usual <= 2.0:
                dates = is_date(self.log.times[0])
                found.append(
                    f"The usual time between measurements is {span_text(usual, dates)}; a rate (as of "
                    f"tv-gp-ucb) is per {'second' if dates else 'unit of time'}, not per measurement. auto "
                    "finds the scale itself; or leave the times out."
                )
        return found

    @property
    def notes(self) -> list[str]:
        """How to read the table."""
        scored = len(self.log) - self.warmup
        left = f", all but the first {self.warmup}" if self.warmup else ""
        return [
            OFF_POLICY,
            f"Scores are of predictions made before y was seen, over {scored} measurements{left}; ± is a "
            "standard error. ln p(y): the larger the better. Intervals are central ones of the normal "
            "distribution with the predicted mean and variance, noise included; in brackets, 95 % (Wilson). "
            "Residuals are standardised: of a right model they have mean 0 and variance 1; above 1 it is too "
            "sure of itself.",
            *([OF_LIMITS] if self._limits else []),
        ]

    # -- as data ---------------------------------------------------------------------------------------

    def as_dict(self, events: bool = True) -> dict[str, Any]:
        """Everything as plain JSON; without the events if they are not wanted."""
        first = self.accounts[0]
        found = []
        for account in self.accounts:
            entry = account.as_dict(events)
            ahead = account.ahead_of(first)
            entry["ahead_of_first"] = {"value": finite(ahead.value), "error": finite(ahead.error)}
            found.append(entry)
        return {
            "log": self.log.source,
            "observations": len(self.log),
            "space": str(self.space),
            "space_guessed": self.guessed,
            "goal": self.goal,
            "warmup": self.warmup,
            "warnings": self.warnings,
            "constraints": {each.name: str(each.constraint) for _, each in self._limits},
            "algorithms": found,
        }

    def _flat_outcomes(self, event: Event) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name in dict.fromkeys(each.name for _, each in self._limits):
            found |= _of_an_outcome(event, name)
        return found

    def records(self) -> list[dict[str, Any]]:
        """A flat record for each algorithm and measurement, for a CSV file or a data frame."""
        found = []
        for account in self.accounts:
            for row, event in enumerate(account.events):
                metadata = self.log.metadata[row] if self.log.metadata else {}
                found.append(
                    {
                        "algorithm": account.label,
                        "step": event.step,
                        "time": event.time,
                        **_flat(event.x),
                        **{name: finite(getattr(event, name)) for name in MADE},
                        **self._flat_outcomes(event),
                        **{f"metadata.{name}": value for name, value in metadata.items()},
                    }
                )
        return found


def _of_an_outcome(event: Event, name: str) -> dict[str, Any]:
    """What was said of a constraint, as columns; None where it was not measured."""
    outcome, column = event.outcomes.get(name), f"{OUTCOME}{name}"
    said = {field: None if outcome is None else getattr(outcome, field) for field in SAID}
    return {column: said.pop("value")} | {f"{column}.{field}": value for field, value in said.items()}


def _flat(x: Any) -> dict[str, Any]:
    """The coordinates of a point as columns; the "x." keeps a parameter apart from the other columns."""
    if isinstance(x, dict):
        return {f"x.{name}": plain(value) for name, value in x.items()}
    if isinstance(x, int | np.integer):
        return {"arm": int(x)}
    return {f"x{i + 1}": float(value) for i, value in enumerate(x)}


def space_text(space: Domain) -> str:
    """A space in few characters, for a bound that was observed has many digits.

    >>> from windvane.spaces import Arms, Choice, Real
    >>> space_text(Box([(0, 1), (-0.123456, 1e4)])), space_text(Arms(3))
    ('Box(0 to 1, -0.1235 to 10000)', 'Arms(n=3)')
    >>> space_text(Space(heat=Real(150, 250, unit="°C"), mode=Choice(["a", "b"])))
    "heat: real, 150 to 250 °C; mode: one of 'a', 'b'"
    """
    if isinstance(space, Box):
        return f"Box({', '.join(f'{number(low)} to {number(high)}' for low, high in space.bounds)})"
    if isinstance(space, Space):
        return "; ".join(f"{name}: {parameter_text(parameter)}" for name, parameter in space.parameters)
    return re.sub(r"\d+\.\d{4,}(e[+-]?\d+)?", lambda found: number(float(found[0])), str(space))


def figure_text(figure: EstimateWithError) -> str:
    """An estimate and its standard error."""
    if math.isnan(figure.value):
        return "–"
    error = "" if math.isnan(figure.error) else f" ± {figure.error:.2g}"
    return f"{figure.value:.3g}{error}"


def coverage_text(found: Coverage) -> str:
    """A share and its interval, in percent."""
    return f"{100 * found.share:.0f} % ({100 * found.low:.0f}–{100 * found.high:.0f})"
