"""One look for all figures: a palette, a look for each algorithm, a sheet of panels, and how it is saved."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from windvane.digits import number
from windvane.errors import InvalidArgument, InvalidType
from windvane.extras import require
from windvane.files import whole
from windvane.plots.picture import EXTRA, picture

# Okabe and Ito's palette: told apart by colour-blind readers too, and so is this grey, where a lighter one
# would look like the green or the purple to some of them.
BLACK, GREY = "#000000", "#707070"
ORANGE, SKY, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
NAVY = "#0B3C5D"
SPARE = (VERMILION, BLUE, GREEN, ORANGE, PURPLE, SKY, BLACK, GREY)  # yellow is too pale for lines on white

WIDE = 1.959964  # standard deviations either side of a 95 % interval

Dashes = str | tuple[int, tuple[float, ...]]
DASHED: tuple[Dashes, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    (0, (6, 1.5, 1.5, 1.5)),
    (0, (10, 3)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (1, 3)),
)


@dataclass(frozen=True)
class Look:
    """How an algorithm is drawn."""

    colour: str
    dashes: Dashes = "-"
    width: float = 1.5

    @property
    def line(self) -> dict[str, Any]:
        """For `Axes.plot`."""
        return {"color": self.colour, "linestyle": self.dashes, "lw": self.width}


LOOKS = {
    "auto": Look(BLACK, width=2.2),
    "et-gp-ucb": Look(VERMILION, width=2.2),
    "et-gp-ucb-confirmed": Look(VERMILION, (0, (5, 1.5)), 2.2),
    "et-gp-ucb-backtracking": Look(PURPLE, (0, (6, 1)), 2.2),
    "et-gp-ucb[0,1]": Look(VERMILION, (0, (1.5, 1.2)), 2.2),
    "et-gp-ucb[0.001,0.1]": Look("#b8860b"),
    "et-gp-ucb[0.01,0.05]": Look("#8a5a00"),
    "always-n-low": Look(BLACK, (0, (6, 1.5, 1.5, 1.5))),
    "r-gp-ucb": Look(ORANGE),
    "r-gp-ucb-average": Look("#7a4b00"),
    "tv-gp-ucb": Look(BLUE),
    "tv-gp-ucb-constant": Look(BLUE, (0, (6, 1.5, 1.5, 1.5))),
    "tv-gp-ucb-mle": Look(SKY, (0, (5, 1.5))),
    "ui-tvbo": Look(GREEN),
    "gp-ucb": Look(GREY),
    "igp-ucb": Look(GREY),
    "sw-gp-ucb": Look(BLUE),
    "sw-gp-ucb-evidence": Look(BLUE, (0, (1.5, 1.2))),
    "w-dbo": Look(GREEN, (0, (5, 1.5))),
    "br-gp-ucb": Look(ORANGE),
    "w-gp-ucb": Look(GREEN),
    "turbo-trigger": Look("#4d4d4d"),
    "random": Look("#c0c0c0", (0, (1, 1))),
}
LABELS = {  # as the paper writes them, where that is not the name in capitals
    "ET-GP-UCB + backtracking": "et-gp-ucb-backtracking",
    "ET-GP-UCB [0.01, 0.05]": "et-gp-ucb[0.01,0.05]",
    "ET-GP-UCB [0.001, 0.1]": "et-gp-ucb[0.001,0.1]",
    "TV-GP-UCB + MLE": "tv-gp-ucb-mle",
    "R-GP-UCB at ET's average": "r-gp-ucb-average",
    "always N_low": "always-n-low",
    "TuRBO trigger": "turbo-trigger",
}
VARIANTS = {  # of an algorithm, as experiments call them
    "ET-GP-UCB, EDetector": Look("#8c2d04", (0, (6, 1.5, 1.5, 1.5))),
    "ET-GP-UCB, ExactBound": Look("#fd8d3c", (0, (5, 1.5))),
    "W-GP-UCB, g = 0.9999": Look(GREEN, (0, (1.5, 1.2))),
}


def look(name: str) -> Look:
    """The look of an algorithm, by its name, its label in the paper, or as `name:option=value`.

    It is the same everywhere. For a name that we do not know it is a stable one.

    >>> look("tv-gp-ucb:rate=0.03") == look("TV-GP-UCB") == look("tv-gp-ucb")
    True
    """
    base = LABELS.get(name, name.split(":")[0].strip().lower())
    return LOOKS.get(base) or VARIANTS.get(name) or Look(SPARE[sum(name.encode()) % len(SPARE)])


def colour(name: str) -> str:
    """The colour of an algorithm.

    >>> colour("et-gp-ucb"), colour("ET-GP-UCB")
    ('#D55E00', '#D55E00')
    """
    return look(name).colour


def looks(names: Iterable[str], colours: Mapping[str, str] | None = None) -> dict[str, Look]:
    """The looks of all lines of one figure, no two alike; `colours` overrules.

    An algorithm keeps its colour. Where another has it already, the line is dashed; a name that we do not
    know takes a colour that is free.

    >>> found = looks(["gp-ucb", "igp-ucb", "mine"], {"gp-ucb": "purple"})
    >>> found["gp-ucb"].colour, found["igp-ucb"].colour == GREY
    ('purple', True)
    """
    listed = list(names)
    given = {} if colours is None else checked_colours(colours, listed)
    settled = [name for name in listed if name in given or known(name)]
    found: dict[str, Look] = {}
    for name in (*settled, *(name for name in listed if name not in settled)):
        mine = replace(look(name), colour=given[name]) if name in given else look(name)
        taken = [(other.colour, other.dashes) for other in found.values()]
        if name not in settled:
            start = SPARE.index(mine.colour)
            used = [shade for shade, _ in taken]
            order = [*SPARE[start:], *SPARE[:start]]
            mine = replace(mine, colour=min(order, key=used.count))
        free = (dashes for dashes in (mine.dashes, *DASHED) if (mine.colour, dashes) not in taken)
        found[name] = replace(mine, dashes=next(free, mine.dashes))
    return {name: found[name] for name in listed}


def known(name: str) -> bool:
    """Whether an algorithm has a look of its own."""
    return name in LABELS or name in VARIANTS or name.split(":")[0].strip().lower() in LOOKS


def checked_colours(colours: Any, names: Iterable[str]) -> dict[str, str]:
    """Colours by name, as matplotlib knows them."""
    if not isinstance(colours, Mapping):
        raise InvalidType(f"colours={colours!r}: must be a dict of colours by name, as {{'auto': '#000000'}}")
    is_colour = require("matplotlib.colors", EXTRA).is_color_like
    for name, shade in colours.items():
        if name not in names:
            raise InvalidArgument(f"colours: {name!r} is not drawn; allowed: {', '.join(map(repr, names))}")
        if not is_colour(shade):
            raise InvalidArgument(f"colours[{name!r}]={shade!r}: must be a colour, as '#0072B2' or 'teal'")
    return dict(colours)


def ramp(share: float) -> tuple[float, float, float]:
    """A colour for an ordered quantity, from dark blue at 0 to vermilion at 1.

    >>> [round(channel, 2) for channel in ramp(0.0)]
    [0.04, 0.24, 0.36]
    """
    stops = [[int(text[i : i + 2], 16) / 255.0 for i in (1, 3, 5)] for text in (NAVY, SKY, ORANGE, VERMILION)]
    places = np.linspace(0.0, 1.0, len(stops))
    red, green, blue = (float(np.interp(share, places, channel)) for channel in zip(*stops, strict=True))
    return red, green, blue


def sheet(rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, Any]:
    """A figure and its axes, rows x columns; `size` in inches, `options` for `Figure.subplots`.

    >>> page, axes = sheet(2, 1, (6, 4), sharex=True)
    >>> axes.shape
    (2, 1)
    """
    figure = picture(size)
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for panel in axes.flat:
        panel.spines[["top", "right"]].set_visible(False)
        panel.tick_params(labelsize=text(9))
    return figure, axes


def text(points: float) -> float:
    """A size of letters that follows matplotlib's `font.size`, which is 10 unless a user changed it.

    >>> text(9)
    9.0
    """
    return float(points * require("matplotlib", EXTRA).rcParams["font.size"] / 10.0)


def log_scale(panel: Any, side: str, low: float, high: float) -> None:
    """A log scale for a parameter on the x or y axis, with plain numbers: 1, 2, 5, 10 if few decades.

    >>> panel = sheet(1, 1, (2, 2))[1][0, 0]
    >>> log_scale(panel, "x", 0.1, 10)
    >>> [label.get_text() for label in panel.get_xticklabels()]
    ['0.1', '0.2', '0.5', '1', '2', '5', '10']
    """
    axis, span = panel.xaxis if side == "x" else panel.yaxis, math.log10(high / low)
    steps = (1,) if span > 3 else (1, 3) if span > 2 else (1, 2, 5)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    ticks = [tick for tick in ticks if 0.999 * low <= tick <= 1.001 * high]
    panel.set(**{f"{side}scale": "log"})
    axis.set_ticks(ticks, [number(tick) for tick in ticks])
    axis.set_minor_formatter(require("matplotlib.ticker", EXTRA).NullFormatter())


def whole_numbers(panel: Any, side: str) -> None:
    """Ticks at whole numbers only, on the x or y axis."""
    axis = panel.xaxis if side == "x" else panel.yaxis
    axis.set_major_locator(require("matplotlib.ticker", EXTRA).MaxNLocator(integer=True))


def says(panel: Any, title: str, colour: str = BLACK) -> None:
    """A panel's title: what is to be seen."""
    panel.set_title(title, loc="left", fontsize=text(10), color=colour)


def legend(figure: Any, panel: Any, columns: int = 4) -> None:
    """One legend for all panels, above them."""
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside upper left",
        ncols=columns,
        frameon=False,
        fontsize=text(9),
        handlelength=2.2,
    )


def save(figure: Any, folder: str | Path, name: str = "figure") -> list[Path]:
    """As .png for the screen and .pdf for print; the same figure gives the same bytes.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in save(sheet(1, 1, (2, 2))[0], folder)]
    ['figure.png', 'figure.pdf']
    """
    paths = [Path(folder) / f"{name}.png", Path(folder) / f"{name}.pdf"]
    with whole(paths[0]) as draft:
        figure.savefig(draft, dpi=130, metadata={"Software": None})
    with whole(paths[1]) as draft:
        figure.savefig(draft, metadata={"CreationDate": None})
    return paths
