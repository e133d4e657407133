"""The oldest BoTorch that this works with."""

from __future__ import annotations

from windvane.errors import MissingExtra

OLDEST = (0, 16, 1)  # before, condition_on_observations did not apply a model's input transform


def check_version(version: str) -> None:
    """An error if this BoTorch is too old; a version that is no number is trusted.

    >>> check_version("0.18.1")
    >>> check_version("0.15.1")
    Traceback (most recent call last):
    windvane.errors.MissingExtra: this needs botorch 0.16.1 or newer, found 0.15.1: pip install ...
    """
    parts = tuple(int(part) for part in version.split(".")[:3] if part.isdigit())
    if parts and parts < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise MissingExtra(
            f"this needs botorch {oldest} or newer, found {version}: pip install 'windvane[botorch]'"
        )
