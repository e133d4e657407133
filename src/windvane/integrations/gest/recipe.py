"""What it takes to make a generator again: for its state, and for the files that Xopt writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from windvane.codec import decode, encode
from windvane.spaces import Context


@dataclass(frozen=True)
class GeneratorRecipe:
    """The arguments of a generator but for its VOCS.

    >>> GeneratorRecipe.read(GeneratorRecipe("et-gp-ucb", 3, {"delta": 0.2}, {}).note())
    GeneratorRecipe(algorithm='et-gp-ucb', seed=3, options={'delta': 0.2}, contexts={})
    """

    algorithm: str
    seed: int
    options: Mapping[str, Any]
    contexts: Mapping[str, Context]

    def note(self) -> dict[str, Any]:
        """Plain JSON."""
        note: dict[str, Any] = {"algorithm": self.algorithm, "seed": self.seed}
        parts = {"options": self.options, "contexts": self.contexts}
        return note | {
            part: {k: encode(v) for k, v in values.items()} for part, values in parts.items() if values
        }

    @staticmethod
    def read(note: Mapping[str, Any]) -> GeneratorRecipe:
        """The recipe of a note."""
        options, contexts = (
            {k: decode(v) for k, v in note.get(part, {}).items()} for part in ("options", "contexts")
        )
        return GeneratorRecipe(note["algorithm"], note["seed"], options, contexts)

    def arguments(self) -> dict[str, Any]:
        """As the generator takes them."""
        return {"algorithm": self.algorithm, "seed": self.seed, "contexts": self.contexts, **self.options}
