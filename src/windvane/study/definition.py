"""What a study was asked to be: written once, for people and for exports. Its state is kept apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windvane.algorithms import make
from windvane.checks import check_text
from windvane.codec import decode, encode
from windvane.errors import Conflict
from windvane.optimizer import Optimizer
from windvane.protocol.checks import duration, metadata_of, space_of
from windvane.spaces.base import Domain


def define(
    space: Domain,
    algorithm: str,
    goal: str,
    seed: int | None,
    expires_after: float | None,
    metadata: Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> tuple[dict[str, Any], Optimizer]:
    """The definition as plain JSON, and the optimiser it asks for."""
    optimizer = make(algorithm, space, goal=goal, seed=seed, **options)
    definition = {
        "algorithm": optimizer.composition.name,
        "space": encode(space),
        "goal": optimizer.goal,
        "seed": optimizer.seed,
        "options": {name: encode(value) for name, value in options.items() if value is not None},
        "expires_after": duration("expires_after", expires_after),
        "metadata": metadata_of(metadata),
    }
    check_text("space", definition["space"])
    return definition, optimizer


def same(wanted: Mapping[str, Any], found: Mapping[str, Any], *, seeded: bool) -> None:
    """An error if a study is not the one that is wanted; its seed counts only if one was given."""
    for name in ("space", "goal", "algorithm", "options", "expires_after", *(["seed"] if seeded else [])):
        if wanted[name] != found[name]:
            raise Conflict(
                f"{name}: there is a study of that name with another, {found[name]!r}; open it as it is, "
                "or choose another name"
            )


def remake(definition: Mapping[str, Any]) -> Optimizer:
    """The optimiser that a definition asks for, before its first observation."""
    options = {name: decode(value) for name, value in definition["options"].items()}
    return make(
        definition["algorithm"],
        space_of(definition),
        goal=definition["goal"],
        seed=definition["seed"],
        **options,
    )
