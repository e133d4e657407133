"""Draws images/walk.svg, `ask` and `tell` through the files: `python docs/tools/walk.py`.

Plain SVG with text in it, so that it can be read, searched and compared. A test says when the picture is out
of date, and when it names a file that is not there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

BLUE, RED, GREEN, GREY, INK = "#0072B2", "#B8440A", "#00785A", "#5f6b73", "#222222"
PALE = {BLUE: "#e8f1f8", RED: "#fbeee6", GREEN: "#e6f4ef", GREY: "#f3f4f5", INK: "#ffffff"}
SANS, MONO = "DejaVu Sans, Verdana, sans-serif", "DejaVu Sans Mono, Menlo, Consolas, monospace"
WIDTH, MARGIN = 900, 16
HELD, FLOW, RECORDS = 190, 232, 702  # the right end of what is held; where steps and records begin
ROW, BOX = 74, 58  # from one step to the next, and the height of its box


class Step(NamedTuple):
    """One step of `tell`: its name, what it does, the files that do it, and the record that comes out."""

    name: str
    does: str
    files: tuple[str, ...]
    record: str
    fields: str
    colour: str


ASK = (
    Step("region", "what may be asked for now", ("spaces/region.py",), "Region", "bounds, points", GREEN),
    Step(
        "posterior",
        "the belief at this moment",
        ("surrogates/posterior.py", "surrogates/mixture/posterior.py"),
        "PosteriorView",
        "mean, variance",
        BLUE,
    ),
    Step(
        "propose",
        "a utility, climbed on the region",
        ("acquisition/ucb.py, ...", "acquisition/maximise.py"),
        "x",
        "in your units",
        GREEN,
    ),
)
TELL = (
    Step(
        "encode",
        "check x, y and time, once",
        ("spaces/", "optimizer.py"),
        "Observation",
        "x, y, time, step",
        GREY,
    ),
    Step(
        "forecast",
        "expected at x, before y is seen",
        ("surrogates/gp.py", "surrogates/mixture/member.py"),
        "Forecast",
        "prediction, projection",
        BLUE,
    ),
    Step(
        "weigh",
        "what the surrogate makes of y",
        ("surrogates/gp_surrogate.py", "surrogates/mixture/update.py"),
        "Opinion",
        "outlier, changes, beliefs",
        BLUE,
    ),
    Step(
        "test",
        "does it contradict the model?",
        ("triggers/, one file each",),
        "Verdict",
        "fired, statistic, since",
        RED,
    ),
    Step(
        "judge",
        "what is done about it",
        ("triggers/ruling.py", "triggers/window.py"),
        "Ruling",
        "reset, set aside, or go on",
        RED,
    ),
    Step(
        "keep",
        "retention at a reset, then the limit",
        ("retention/, one file each",),
        "Dataset",
        "the observations in use",
        RED,
    ),
    Step(
        "follow or restart",
        "another surrogate, of these data",
        ("surrogates/gp_surrogate.py", "surrogates/mixture/surrogate.py"),
        "Surrogate",
        "the successor",
        BLUE,
    ),
    Step(
        "learn, if it is time",
        "kernel, noise and scale of y",
        ("surrogates/learning.py, fit.py", "surrogates/mixture/learning.py"),
        "Surrogate",
        "fitted",
        BLUE,
    ),
    Step(
        "commit",
        "one assignment: all of it, or nothing",
        ("optimizer.py",),
        "Event",
        "the record of this step",
        GREY,
    ),
)
HOLDS = ("surrogate", "trigger's memory", "limit's memory", "step, elapsed", "last time", "what is set aside")


def text(x: float, y: float, words: str, *, size: float = 13, colour: str = INK, look: str = "") -> str:
    """A line of text; `look` is any of bold, mono and middle."""
    family = MONO if "mono" in look else SANS
    weight = ' font-weight="bold"' if "bold" in look else ""
    anchor = ' text-anchor="middle"' if "middle" in look else ""
    font = f'font-family="{family}" font-size="{size:g}"{weight}{anchor}'
    return f'<text x="{x:g}" y="{y:g}" {font} fill="{colour}">{escape(words)}</text>'


def box(x: float, y: float, width: float, height: float, colour: str, *, round_: float = 6) -> str:
    """A frame with a pale ground."""
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round_:g}" '
        f'fill="{PALE[colour]}" stroke="{colour}" stroke-width="1.3"/>'
    )


def arrow(*points: tuple[float, float], colour: str = GREY, dashed: bool = False) -> str:
    """A line through these points with a head at its end."""
    path = " ".join(f"{x:g},{y:g}" for x, y in points)
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{dash} '
        f'marker-end="url(#head{colour[1:]})"/>'
    )


def heads() -> str:
    """Heads of arrows, one of each colour."""
    return "".join(
        f'<marker id="head{colour[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0,0.5 L8,4 L0,7.5 z" fill="{colour}"/></marker>'
        for colour in (GREY, RED)
    )


def record(x: float, y: float, width: float, step: Step) -> list[str]:
    """The record that a step hands on, as a pill."""
    middle = x + width / 2
    return [
        box(x, y, width, 42, step.colour, round_=21),
        text(middle, y + 18, step.record, look="bold middle", colour=step.colour),
        text(middle, y + 33, step.fields, size=10.5, look="middle", colour=INK),
    ]


def asking(top: float) -> list[str]:
    """The upper part: three steps side by side, each with what it hands on below."""
    found = [text(FLOW, top, "ask", size=17, look="bold")]
    found.append(text(FLOW + 44, top, "reads, and changes nothing that was learned", size=12.5, colour=GREY))
    width, gap = 204, 20
    entry = FLOW + width + gap + 10  # beside the record below the posterior
    found.append(arrow((HELD, top + 170), (entry, top + 170), (entry, top + 99), dashed=True))
    for number, step in enumerate(ASK):
        x, y = FLOW + number * (width + gap), top + 14
        found.append(box(x, y, width, 84, step.colour))
        found.append(text(x + 10, y + 20, step.name, look="bold", colour=step.colour))
        found.append(text(x + 10, y + 37, step.does, size=11.5))
        for line, file in enumerate(step.files):
            found.append(text(x + 10, y + 57 + 15 * line, file, size=10, look="mono", colour=GREY))
        found += record(x + 22, y + 102, width - 44, step)
        found.append(arrow((x + width / 2, y + 84), (x + width / 2, y + 101)))
        if number:
            found.append(
                arrow((x - gap - 22, y + 123), (x - gap / 2, y + 123), (x - gap / 2, y + 42), (x - 1, y + 42))
            )
    return found


def telling(top: float) -> list[str]:
    """The lower part: the steps from top to bottom, each with the record that comes out."""
    found = [text(FLOW, top, "tell", size=17, look="bold")]
    found.append(
        text(FLOW + 44, top, "computes what comes next beside what there is", size=12.5, colour=GREY)
    )
    wide = RECORDS - FLOW - 24
    for number, step in enumerate(TELL):
        y = top + 14 + number * ROW
        found.append(box(FLOW, y, wide, BOX, step.colour))
        found.append(text(FLOW + 12, y + 24, step.name, look="bold", colour=step.colour, size=13.5))
        found.append(text(FLOW + 12, y + 43, step.does, size=11.5))
        start = 24 if len(step.files) > 1 else 33
        for line, file in enumerate(step.files):
            found.append(text(FLOW + 246, y + start + 17 * line, file, size=10, look="mono", colour=GREY))
        found += record(RECORDS, y + 8, WIDTH - MARGIN - RECORDS, step)
        found.append(arrow((RECORDS - 24, y + 29), (RECORDS - 1, y + 29)))
        if number:
            middle = (RECORDS + WIDTH - MARGIN) / 2
            found.append(
                arrow((middle, y - 24), (middle, y - 7), (FLOW + wide / 2, y - 7), (FLOW + wide / 2, y - 1))
            )
    return found


def holding(top: float, bottom: float, reads: tuple[float, ...], writes: float) -> list[str]:
    """On the left what the optimiser holds: read by all, replaced by the last line of `tell`."""
    found = [box(MARGIN, top, HELD - MARGIN, bottom - top, INK, round_=8)]
    x = MARGIN + 14
    found.append(text(x, top + 28, "Progress", size=16, look="bold"))
    for line, words in enumerate(("all that a tell", "replaces")):
        found.append(text(x, top + 48 + 16 * line, words, size=12, colour=GREY))
    for line, words in enumerate(HOLDS):
        found.append(text(x, top + 98 + 24 * line, words, size=12.5))
    for line, words in enumerate(
        ("frozen, and never", "written to:", "whatever is raised", "on the way, it is", "as it was")
    ):
        found.append(text(x, writes - 116 + 17 * line, words, size=12, colour=GREY))
    found += [arrow((HELD, y), (FLOW - 1, y), dashed=True) for y in reads]
    found.append(arrow((FLOW, writes), (HELD + 1, writes), colour=RED))
    return found


def picture() -> str:
    """The whole picture, on a white sheet that does for light and dark pages."""
    ask, tell = 40, 250
    last = tell + 14 + (len(TELL) - 1) * ROW
    height = last + BOX + 20
    lines = tuple(tell + 14 + number * ROW + 29 for number in (1, 2, 3, 5))
    body = [
        *asking(ask),
        *telling(tell),
        *holding(22, last + BOX, lines, last + 29),
    ]
    title = "ask and tell through the files of Windvane"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img">',
            f"<title>{title}</title>",
            f"<defs>{heads()}</defs>",
            f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff"/>',
            *body,
            "</svg>\n",
        ]
    )


def main(folder: Path) -> None:
    """Draw the picture into `folder`."""
    (folder / "walk.svg").write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[1] / "images")
