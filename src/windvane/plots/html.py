"""How notebooks show runs and reports: plain HTML, no matplotlib, colours inherited from the page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from windvane.data import Event

RESET = "#D55E00"  # stands out from a light page and from a dark one
LINE = "1px solid rgba(128,128,128,0.4)"
SHOWN = 10  # resets that are listed; all of them are in the data
WIDTH, HEIGHT = 480, 70  # of a sparkline, in pixels
FINENESS = 240  # points of a sparkline, each the mean of a stretch


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of text, escaped; the first column is what a row is about.

    >>> table(["name", "R_T"], [["a < b", "0.3"]]).count("a &lt; b")
    1
    """
    cell = f"padding:2px 10px;border-bottom:{LINE};vertical-align:top;background:none;text-align:"
    head = "".join(
        f'<th style="{cell}left;white-space:pre-line">{escape(heading)}</th>' for heading in headings
    )
    body = "".join(
        "<tr>" + "".join(f'<td style="{cell}left">{escape(each)}</td>' for each in row) + "</tr>"
        for row in rows
    )
    bare = "font-size:inherit;border-collapse:collapse;margin:4px 0;color:inherit;background:none"
    return f'<table style="{bare}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def sparkline(values: Sequence[float], marks: Sequence[int] = ()) -> str:
    """Values over steps 1, 2, .. as a small picture; `marks` are steps with a line through them."""
    series = np.asarray(values, dtype=np.float64)
    parts = np.array_split(series, min(FINENESS, len(series)))
    middle = np.cumsum([len(part) for part in parts]) - 0.5 * np.array([len(part) + 1 for part in parts])
    heights = np.array([part.mean() for part in parts])
    low, high = min(0.0, float(heights.min())), max(float(heights.max()), 1e-300)
    across = WIDTH / max(len(series) - 1, 1)
    x = middle * across
    y = HEIGHT - (HEIGHT - 2) * (heights - low) / (high - low) - 1
    path = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    lines = "".join(
        f'<line x1="{(mark - 1) * across:.1f}" x2="{(mark - 1) * across:.1f}" y1="0" y2="{HEIGHT}" '
        f'stroke="{RESET}" stroke-width="1.5"/>'
        for mark in marks
    )
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'style="overflow:visible;display:block;max-width:100%">'
        f'<line x1="0" x2="{WIDTH}" y1="{HEIGHT}" y2="{HEIGHT}" stroke="currentColor" stroke-opacity="0.4"/>'
        f'{lines}<polyline points="{path}" fill="none" stroke="currentColor" stroke-width="1.2"/></svg>'
    )


def run(regret: Any, resets: Sequence[int], events: Sequence[Event], violations: int | None = None) -> str:
    """A simulated run: its regret, and why it was reset; `violations` if there were limits."""
    count = len(resets)
    beyond = (
        "" if violations is None else f", {violations} step{'' if violations == 1 else 's'} beyond a limit"
    )
    head = (
        f"<b>{len(regret)} steps</b>, R_T / T = {float(np.mean(regret)):.4g}, "
        f"R_T = {float(np.sum(regret)):.4g}, {count} reset{'' if count == 1 else 's'}{beyond}"
        if len(regret)
        else "<b>no steps</b>"
    )
    told = [event for event in events if event.reset]
    rows = [
        [str(event.step), f"{event.statistic:.4g}", f"{event.threshold:.4g}", str(event.kept), event.reason]
        for event in told[:SHOWN]
    ]
    parts = [f'<div style="margin:4px 0">{head}</div>']
    if len(regret):
        mark = f'; <span style="color:{RESET}">|</span> resets' if count else ""
        caption = f"regret r_t over time, at most {float(np.max(regret)):.3g}{mark}"
        parts.append(f'<div style="font-size:85%;opacity:0.8">{caption}</div>{sparkline(regret, resets)}')
    if rows:
        parts.append(table(["reset at step", "statistic", "threshold", "kept", "why"], rows))
    if len(told) > SHOWN:
        parts.append(f"<div>... and {len(told) - SHOWN} more, the last at step {told[-1].step}</div>")
    return f"<div>{''.join(parts)}</div>"


def paragraphs(lines: Iterable[str]) -> str:
    """Lines of text below each other, escaped."""
    return "".join(f'<div style="white-space:pre-wrap;margin:2px 0">{escape(line)}</div>' for line in lines)
