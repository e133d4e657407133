"""The picture of a replay: what was measured and predicted, and what each algorithm made of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.plots.clock import caption_time, since_first
from windvane.plots.style import BLACK, SPARE, WIDE, says, sheet
from windvane.replay.account import Account
from windvane.replay.log import Log

MANY = 500  # measurements from which marks are small
FLOOR = 1e-3  # of statistic / threshold, on a log scale


def draw(accounts: Sequence[Account], log: Log) -> Any:
    """Made without pyplot: no window, no global state, nothing to close."""
    count = len(accounts)
    limits = {
        name: str(each.constraint) for account in accounts for name, each in account.constraints.items()
    }
    below = (3 if count > 1 else 2) + len(limits)
    heights = [1.8] * count + [1.3] * below
    size = (10.0, sum(heights) + 0.8)  # inches
    figure, axes = sheet(count + below, 1, size, sharex=True, height_ratios=heights)
    panels = axes[:, 0]
    times, caption = _axis(np.array([event.time for event in accounts[0].events]), log)
    for panel in panels:
        panel.grid(axis="y", lw=0.4, alpha=0.4)
    alarms, sizes, gains = panels[count], panels[count + 1], panels[-1]
    for panel, (name, limit) in zip(panels[count + 2 :], limits.items(), strict=False):
        _believed(panel, accounts, name, limit, times)
    for number, account in enumerate(accounts):
        colour = SPARE[number % len(SPARE)]  # in the order given: variants of one differ
        width = max(2.4 - 0.5 * number, 1.0)  # lines that coincide are seen one around the other
        _predictions(panels[number], account, times, colour)
        _alarms(alarms, account, times, colour)
        sizes.step(times, [event.size for event in account.events], color=colour, lw=width, where="post")
        if count > 1:
            _ahead(gains, account, accounts[0], times, colour, width)
    says(alarms, "statistic / threshold: the trigger fires above 1, ▼ resets")
    alarms.axhline(1.0, color=BLACK, lw=0.8, ls="--")
    says(sizes, "measurements in use")
    sizes.set_ylim(bottom=0.0)
    if count > 1:
        says(gains, f"cumulative ln p(y), ahead of {accounts[0].label}: where it rises, it predicts better")
    caption_time(panels[-1], caption, times)
    return figure


def _axis(times: Array, log: Log) -> tuple[Array, str]:
    return (times, "measurement") if log.times is None else since_first(times)


def _predictions(panel: Any, account: Account, times: Array, colour: str) -> None:
    """The measurements on what was predicted of them, and where it would have reset."""
    means = np.array([event.mean for event in account.events])
    values = np.array([event.y for event in account.events])
    half = WIDE * account.spreads
    small = len(values) > MANY
    panel.fill_between(times, means - half, means + half, color=colour, alpha=0.22, lw=0, step="mid")
    panel.plot(times, means, "_", color=colour, ms=2 if small else 4, mew=1.2)
    missed = np.abs(values - means) > half
    panel.plot(times[~missed], values[~missed], ".", color=BLACK, ms=1.5 if small else 3.0)
    panel.plot(times[missed], values[missed], "o", mfc="white", mec=BLACK, mew=0.8, ms=2.0 if small else 3.5)
    for row, event in enumerate(account.events):
        if event.reset:
            panel.axvline(times[row], color=colour, lw=1.2)
    low, high = float(values.min()), float(values.max())
    margin = 0.25 * (high - low) or 1.0
    panel.set_ylim(low - margin, high + margin)  # the first predictions would dwarf everything
    count = len(account.resets)
    resets = f"{count} reset{'' if count == 1 else 's'}" if count else "no reset"
    told = f"{account.label}, {resets}: y, and the 95 % interval that was predicted (○ outside)"
    says(panel, told, colour)


def _alarms(panel: Any, account: Account, times: Array, colour: str) -> None:
    shares = np.full(len(times), np.nan)
    for row, event in enumerate(account.events):
        watched = event.monitored and np.isfinite(event.threshold) and np.isfinite(event.statistic)
        if watched and event.threshold > 0.0:
            shares[row] = max(event.statistic / event.threshold, FLOOR)
    panel.set_yscale("log")
    panel.plot(times, shares, color=colour, lw=1.0)
    fired = [row for row, event in enumerate(account.events) if event.reset]
    panel.plot(times[fired], shares[fired], "v", color=colour, ms=6)


def _believed(panel: Any, accounts: Sequence[Account], name: str, limit: str, times: Array) -> None:
    """How probably each algorithm believed a limit to hold, and where it did not."""
    for number, account in enumerate(accounts):
        colour = SPARE[number % len(SPARE)]
        chances = np.full(len(times), np.nan)
        for row, event in enumerate(account.events):
            if name in event.outcomes:
                chances[row] = event.outcomes[name].probability
                if event.outcomes[name].reset:
                    panel.axvline(times[row], color=colour, lw=1.2)
        panel.plot(times, chances, ".", color=colour, ms=4)
        broken = [
            row for row, e in enumerate(account.events) if name in e.outcomes and e.outcomes[name].violated
        ]
        panel.plot(times[broken], chances[broken], "x", color=BLACK, ms=5, mew=1.0)
    panel.set_ylim(-0.05, 1.05)
    says(panel, f"probability that {name} {limit}, as believed before it was measured (× violated, | resets)")


def _ahead(panel: Any, account: Account, first: Account, times: Array, colour: str, width: float) -> None:
    gain = account.log_densities - first.log_densities
    gain[: account.warmup] = 0.0
    panel.plot(times, np.cumsum(gain), color=colour, lw=width)
