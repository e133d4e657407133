"""A point that somebody was given to evaluate."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from windvane.moments import utc
from windvane.notebook import card, shown
from windvane.storage import Record

Status = Literal["pending", "told", "failed", "expired", "retracted"]


@dataclass(frozen=True)
class Trial:
    """Evaluate `x`, then tell the value under this `number`.

    Times are seconds since 1970. After `expires_at` nobody waits for the answer any longer; if it comes
    all the same, it is welcome.
    """

    number: int
    x: Any
    asked_at: float
    expires_at: float | None = None
    status: Status = "pending"
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}

    def _repr_html_(self) -> str:
        """For notebooks."""
        rows = {"x": shown(self.x), "status": self.status, "asked": utc(self.asked_at)}
        if self.expires_at is not None:
            rows["expires"] = utc(self.expires_at)
        rows |= {str(name): str(value) for name, value in self.metadata.items()}
        return card(f"trial {self.number}", rows)

    @staticmethod
    def of(asked: Record) -> Trial:
        """The trial that a record of kind "asked" began."""
        assert asked.trial is not None
        return Trial(asked.trial, asked.x, asked.at, asked.expires, metadata=asked.metadata)
