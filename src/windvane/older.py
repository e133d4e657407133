"""States of earlier versions, rewritten as this version writes them."""

from __future__ import annotations

from typing import Any

from windvane.codec import encode
from windvane.hypothesis_names import FORMER
from windvane.surrogates import HYPOTHESES
from windvane.surrogates.mixture import LOCAL

OWN = ("Hypothesis", "LocalHypothesis")
BELIEVED = 0.9  # of a sudden change, where a state does not say
EARLY = 20  # steps in which `auto`, told nothing, dropped no data


def upgraded(state: dict[str, Any]) -> dict[str, Any]:
    """The state in the present format; a present one is returned as it is, and none is changed."""
    if state["windvane"] == 1:
        state = _second(state)
    if state["windvane"] == 2:
        state = _third(state)
    found: dict[str, Any] = renamed(state)
    return found


def renamed(value: Any) -> Any:
    """A state with the present names of `auto`'s hypotheses; what others have called so keeps its name."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [renamed(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {name: renamed(each) for name, each in value.items()}
    if value.get("type") in OWN:
        return {**found, "label": _label(value)}
    if "start" in value and isinstance(value.get("model"), dict) and "hypotheses" in value["model"]:
        names = {each["label"]: _label(each) for each in value["model"]["hypotheses"]}
        members = [_member(row, names) for row in value["start"]["members"]]
        found["start"] = {**value["start"], "members": members}
    return found


def _label(hypothesis: dict[str, Any]) -> str:
    """What a hypothesis is called now: the weight may be the caller's, but the kernels must be ours."""
    label = hypothesis["label"]
    for own in (*HYPOTHESES, *LOCAL):
        if own.label == FORMER.get(label):
            same = {**encode(own), "label": label, "weight": hypothesis["weight"]}
            return own.label if hypothesis == same else str(label)
    return str(label)


def _member(row: list[Any], names: dict[str, str]) -> list[Any]:
    """One of a mixture; where a level has moved, it names the hypothesis whose level that is."""
    return [names.get(each, each) if isinstance(each, str) else each for each in row]


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
