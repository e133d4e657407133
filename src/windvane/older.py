"""States of earlier versions, rewritten as this version writes them."""

from __future__ import annotations

from typing import Any

BELIEVED = 0.9  # of a sudden change, where a state does not say
EARLY = 20  # steps in which `auto`, told nothing, dropped no data


def upgraded(state: dict[str, Any]) -> dict[str, Any]:
    """The state in the present format; a present one is returned as it is, and none is changed."""
    if state["windvane"] == 1:
        state = _second(state)
    return _third(state) if state["windvane"] == 2 else state


def _third(state: dict[str, Any]) -> dict[str, Any]:
    """A mixture of version 2 knew no changes of the level alone: it goes on without."""
    state = {**state, "windvane": 3}
    if state["composition"]["model"].get("type") == "Mixture":
        for part in ("composition", "surrogate"):
            state[part] = {**state[part], "model": {**state[part]["model"], "level_runs": 0}}
    return state


def _second(state: dict[str, Any]) -> dict[str, Any]:
    """Of version 1: a mixture had its trigger and its retention in itself."""
    state = {**state, "windvane": 2}
    composition = dict(state["composition"])
    if composition["model"].get("type") == "Mixture":
        composition["model"], believed = _without_believed(composition["model"])
        composition["trigger"] = {"type": "BelievedChange", "believed": believed}
        composition["on_trigger"] = {"type": "SinceChange"}
        if composition["rescale"] and composition["learning"].get("type") == "LearnOnline":
            composition["learning"] = {**composition["learning"], "trusted": EARLY}
        state["surrogate"] = _mixture(state["surrogate"])
    return {**state, "composition": composition}


def _without_believed(model: dict[str, Any]) -> tuple[dict[str, Any], float]:
    """What a mixture took for a fact has become the trigger's."""
    return {key: value for key, value in model.items() if key != "believed"}, model.get("believed", BELIEVED)


def _mixture(surrogate: dict[str, Any]) -> dict[str, Any]:
    """One memory of outliers for all hypotheses has become one for each."""
    model, _ = _without_believed(surrogate["model"])
    start, base, scaling = surrogate["start"], surrogate["base"], surrogate["model"]["scaling"]
    shares = start.get("outliers") or [0.0] * len(base)
    far = 3.0 * scaling["scale"]
    suspects = [
        [step, share, max(far, abs(y - scaling["offset"]))]
        for (_, y, _, step), share in zip(base, shares, strict=True)
        if share >= 0.02
    ]
    members = []
    for first, born, a, b, noises, *lift in start["members"]:
        own = [each for each in suspects if each[0] >= born]
        members.append([first, born, a, b, noises, lift[0] if lift else 0.0, own])
    return {**surrogate, "model": model, "start": {"members": members, "weights": start["weights"]}}
