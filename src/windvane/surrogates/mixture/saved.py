"""A mixture as plain JSON, and back: the model, the last fresh start, and the observations since."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from windvane.checks import Array, array, integer, real
from windvane.codec import encode
from windvane.data import Dataset, Observation
from windvane.errors import CorruptState
from windvane.spaces.base import Domain
from windvane.surrogates.mixture import starts
from windvane.surrogates.mixture.member import Member
from windvane.surrogates.mixture.mixture import Mixture
from windvane.surrogates.mixture.outliers import NoiseEstimate, Suspect
from windvane.surrogates.state import dataset, observation, plain


def snapshot(members: Sequence[Member], weights: Array) -> dict[str, Any]:
    """What a fresh start begins with, beside model and data."""
    return {
        "members": [
            [
                member.first,
                member.born,
                *member.noise,
                member.noises.tolist(),
                member.lift,
                [[step, *suspect] for step, suspect in member.suspects.items()],
                *(() if member.turn is None else (member.label, member.turn)),
            ]
            for member in members
        ],
        "weights": weights.tolist(),
    }


def state(
    model: Mixture, base: Dataset, start: dict[str, Any], journal: Sequence[Observation]
) -> dict[str, Any]:
    """Plain JSON."""
    return {
        "model": encode(model),
        "base": [plain(row) for row in base],
        "start": deepcopy(start),  # the caller's to change
        "journal": [plain(row) for row in journal],
    }


class Saved(NamedTuple):
    """What a state says."""

    base: Dataset
    members: list[Member]
    weights: Array
    journal: list[Observation]


def read(domain: Domain, model: Mixture, saved: dict[str, Any]) -> Saved:
    """What `state` wrote, checked."""
    base = dataset(saved["base"], domain)
    weights = array("state(weights)", saved["start"]["weights"], (None,))
    rows = saved["start"]["members"]
    proper = (weights >= 0.0).all() and abs(float(weights.sum()) - 1.0) < 1e-6
    if not len(model.permanent) <= len(rows) == len(weights) or not proper:
        raise CorruptState("state: the hypotheses and their weights do not fit each other")
    members = [_member(model, number, row, len(base)) for number, row in enumerate(rows)]
    return Saved(base, members, weights, [observation(row, domain) for row in saved["journal"]])


def _member(model: Mixture, number: int, row: Any, size: int) -> Member:
    """A member as `snapshot` wrote it."""
    first, born, a, b, noises, lift, suspects, *moved = row
    noise = NoiseEstimate(real("state(a)", a, above=0.0), real("state(b)", b, above=0.0))
    count = integer("state(first)", first, at_least=0, at_most=size)
    birth = integer("state(born)", born, at_least=0)
    lift = real("state(lift)", lift, at_least=0.0)
    remembered = {
        integer("state(suspect)", step, at_least=1): Suspect(
            real("state(share)", share, at_least=0.0, at_most=1.0), real("state(size)", far, at_least=0.0)
        )
        for step, share, far in suspects
    }
    if number < len(model.permanent):
        member = starts.permanent(model, noise, remembered)[number]
        member.first, member.born = count, birth
    elif moved:
        label, turn = moved
        parent = [hypothesis.label for hypothesis in model.permanent].index(label)
        turn = integer("state(turn)", turn, at_least=0, at_most=size)
        member = starts.moved(model, noise, parent, count, turn, birth, lift, remembered)
    else:
        member = starts.run(model, noise, count, birth, lift, remembered)
    member.noises = array("state(noises)", noises, (size - count,)) if size > count else np.empty(0)
    if not (member.noises > 0.0).all():
        raise CorruptState("state: a noise variance is not positive")
    return member
