"""The Figure that all plots return: made without pyplot, and shown by notebooks all the same.

A notebook shows a plain matplotlib Figure only after pyplot has been imported and told to. That is global
state, so these figures bring the one method that a notebook asks for.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from typing import Any

from windvane.extras import require

EXTRA = "plots"
SCREEN = 80  # dots an inch in a notebook; drawn with twice as many, for sharp displays


def picture(size: tuple[float, float]) -> Any:
    """An empty figure, `size` in inches: no window, no global state, nothing to close.

    >>> page = picture((4, 3))
    >>> page.subplots().plot([1, 2, 3])
    [...]
    >>> data, shown = page._repr_png_()
    >>> data[:4], shown
    (b'\\x89PNG', {'width': 320, 'height': 240})
    """
    return _kind()(figsize=size, layout="constrained")


@cache
def _kind() -> type:
    """A subclass of an optional package's class cannot be written down at the top of a module."""
    figure = require("matplotlib.figure", EXTRA).Figure
    about = "A matplotlib Figure that notebooks show."
    return type("Picture", (figure,), {"__module__": __name__, "__doc__": about, "_repr_png_": _png})


def _png(figure: Any) -> tuple[bytes, dict[str, int]]:
    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=2 * SCREEN)
    width, height = (round(SCREEN * side) for side in figure.get_size_inches())
    return stream.getvalue(), {"width": width, "height": height}


def __getattr__(name: str) -> Any:
    """`Picture`, where pickle looks for it."""
    if name == "Picture":
        return _kind()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
