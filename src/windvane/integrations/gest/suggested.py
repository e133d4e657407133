"""Points that were suggested and have not come back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PATIENCE = 100  # results that come in before a point is taken for lost, at least,
TIMES = 3  # and so many for each point that was out when it was suggested


@dataclass(frozen=True)
class Outstanding:
    """A point that was suggested, contexts included; taken for lost when `until` results have come in."""

    point: Mapping[str, Any]
    until: int

    def chose(self, settings: Mapping[str, Any]) -> bool:
        """Whether these are its settings, whatever the contexts."""
        return all(self.point[name] == value for name, value in settings.items())


@dataclass(frozen=True)
class Suggested:
    """What was suggested: a value, of which every method returns another.

    IDs count from 0. A point that never comes back, because its worker died, must not be kept away from for
    ever: it is given up once many more results have come in than there were points ahead of it.

    >>> now = Suggested().add({"x": 0.5})
    >>> now.points, now.issued, now.without(0, {"x": 0.5}).points
    ([{'x': 0.5}], 1, [])
    """

    issued: int = 0
    received: int = 0
    out: Mapping[int, Outstanding] = field(default_factory=dict)

    @property
    def points(self) -> list[Mapping[str, Any]]:
        """The points that are being evaluated, oldest first."""
        return [each.point for each in self.out.values()]

    def add(self, point: Mapping[str, Any]) -> Suggested:
        """With one more, whose ID is the old `issued`."""
        until = self.received + max(PATIENCE, TIMES * len(self.out))
        out = {**self.out, self.issued: Outstanding(point, until)}
        return Suggested(self.issued + 1, self.received, out)

    def without(self, number: int | None, settings: Mapping[str, Any]) -> Suggested:
        """After a result; one that has no ID belongs to the oldest suggestion of these very settings."""
        if number is None:
            number = next((key for key, each in self.out.items() if each.chose(settings)), None)
        received = self.received + 1
        out = {key: each for key, each in self.out.items() if key != number and each.until > received}
        return Suggested(self.issued, received, out)
