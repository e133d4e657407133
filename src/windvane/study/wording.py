"""An explanation in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from windvane.digits import counted, estimate, number, rounded
from windvane.hypothesis_names import with_place
from windvane.moments import is_date, place_text, span_text, utc
from windvane.study.limits import sentences

if TYPE_CHECKING:
    from windvane.study.explain import Explanation, LastReset

FEW = 5  # amendments that are told one by one
SERIOUS = 0.05  # the weight from which a hypothesis is worth mentioning
COUNTS_IN_STEPS = re.compile(r"\bsteps?\b(?! \d)")  # "3 % per step", "24 steps", but not "step 81"


def text(found: Explanation) -> str:
    """The whole explanation."""
    head = (
        f"{found.study} ({found.algorithm}, {found.goal}): {counted(found.tells, 'observation')} told, "
        f"{counted(found.resets, 'reset')}, {counted(found.pending, 'trial')} outstanding, "
        f"{found.failed} failed."
    )
    if found.belief is None:
        what = "None of what was told counts" if found.tells else "Nothing has been told yet"
        none = f"{what}, so nothing is believed and nothing can be explained."
        return "\n".join(part for part in (head, none, _about_amendments(found)) if part)
    parts = [
        head,
        _about_reset(found),
        _about_amendments(found),
        _about_outliers(found),
        _about_belief(found),
        *sentences(found.constraints, found.safe, found.retreat, found.last_retreat),
        _about_data(found),
    ]
    return "\n".join(part for part in (*parts, _about_coverage(found)) if part)


def _about_reset(found: Explanation) -> str:
    reset = found.reset
    if reset is None:
        near = ""
        if found.nearest is not None:
            near = f" The closest to one lately: a statistic at {100 * found.nearest:.0f} % of its threshold."
        return f"There has been no reset: no data were dropped because of a change.{near}"
    ago = (
        "at the last observation"
        if reset.steps_ago == 0
        else f"{counted(reset.steps_ago, 'observation')} ago"
    )
    if reset.kind == "asked":
        since = f"{counted(reset.steps_ago, 'observation')} since" if reset.steps_ago else "none since"
        return (
            f"A reset was asked for after {place_text(reset.step, reset.time)}, {since} (recorded "
            f"{utc(reset.at)}): {_line(reset.reason)}. Nothing told before it is used any more."
        )
    kept = f"{counted(reset.kept, 'observation')} kept" if reset.kept else "nothing kept"
    when = f"at {place_text(reset.step, reset.time)}, {ago} (recorded {utc(reset.at)}), {kept}"
    seen = (
        f"expected {estimate(reset.expected, reset.spread)} at {reset.where}, saw {number(reset.seen)}: "
        f"{abs(reset.sigmas):.2f} standard deviations {'above' if reset.sigmas > 0.0 else 'below'}."
    )
    if reset.kind == "belief":
        return _about_belief_in_change(reset, when, seen)
    head = f"The last reset was {when}: {_line(reset.reason)}."
    seen = f"{seen[0].upper()}{seen[1:]}"
    if reset.kind in ("forced", "periodic", "no improvement"):
        return f"{head} {reset.false_alarm.words} {seen}"
    chance = (
        f"If nothing had changed and the model were right, a single observation would be this far off with "
        f"probability {_small(reset.p_value)}."
    )
    step = ""
    if reset.false_alarm.at_step is not None:
        step = f"At this step a false alarm had probability {_small(reset.false_alarm.at_step)}."
    parts = (head, seen, chance, step, reset.false_alarm.words)
    return " ".join(part for part in parts if part)


def _about_belief_in_change(reset: LastReset, when: str, seen: str) -> str:
    """The evidence first: since when, how sure, against what, what moved; then the reset that it led to."""
    reason = _line(reset.reason)
    change = reset.change or {}
    moved = {
        "new": "Nothing that was measured before it is used any more.",
        "level": (
            "It may be that only the level has moved, so what was measured before is still used, at the new "
            "level. If you know that more has changed, ask for a reset."
        ),
        "return": "What was measured then is used again.",
    }.get(change.get("kind", ""), "")
    late = reset.step - change.get("step", reset.step)
    noticed = f"after {counted(late, 'more observation')}" if late > 0 else "at once"
    certain = f"It was certain enough {noticed}; the last reset was {when}."
    last = f"The observation that settled it: {seen}"
    parts = (f"{reason[0].upper()}{reason[1:]}.", moved, certain, last, reset.false_alarm.words)
    return " ".join(part for part in parts if part)


def _about_amendments(found: Explanation) -> str:
    """What was done by hand: the last few of it."""
    if not found.amendments:
        return ""
    more = len(found.amendments) - FEW
    units = {each.name: f" {each.unit}" for each in found.constraints if each.unit}
    said = "; ".join(_amendment(each, units) for each in found.amendments[-FEW:])
    return f"By hand: {f'{more} before, and ' if more > 0 else ''}{said}."


def _amendment(one: Mapping[str, Any], units: Mapping[str, str]) -> str:
    if one["kind"] == "redefined":
        out = one["left_out"]
        left = (
            f"{counted(out, 'observation')} outside it left out" if out else "everything measured lies in it"
        )
        what = f"the space was changed, and {left}"
    else:
        of = f"record {one['record']}" if one["trial"] is None else f"trial {one['trial']}"
        parts = _corrected(one, of, units) if one["kind"] == "corrected" else []
        done = "taken back" if one["kind"] == "retracted" else f"corrected to {number(one['y'])}"
        what = ", ".join(parts) or f"the value of {of}, {number(one['was'])}, was {done}"
    why = f" ({_line(one['reason'])})" if one["reason"] else ""
    gone = f", and {counted(one['undone'], 'reset')} with it" if one["undone"] else ""
    new = f", which gave {counted(one['new'], 'reset')} that had not been" if one["new"] else ""
    return f"{what}{why}{gone}{new}"


def _corrected(one: Mapping[str, Any], of: str, units: Mapping[str, str]) -> list[str]:
    """What was put right: the value, if it was another, and those of constraints."""
    values = {"the value": {"value": one["y"], "was": one["was"]}, **one["outcomes"]}
    found = []
    for name, now in values.items():
        if now["value"] == now["was"]:
            continue
        unit = units.get(name, "")
        before = "which had not been told" if now["was"] is None else f"{number(now['was'])}{unit}"
        done = "taken back" if now["value"] is None else f"corrected to {number(now['value'])}{unit}"
        found.append(f"{name} of {of}, {before}, was {done}")
    return found


def _about_outliers(found: Explanation) -> str:
    event = found.set_aside
    if event is not None:
        return (
            f"The last observation, y = {number(event['y'])}, is an outlier or a change, as a second look at "
            f"the same point will tell. The model has not been told it: {event['reason']}."
        )
    if not found.outliers:
        return ""
    count, last = len(found.outliers), found.outliers[-1]
    some = "one was taken for an outlier" if count == 1 else f"{count} were taken for outliers"
    told = last.get("time") if last["outlier"] == last.get("step") else None  # else it was set aside before
    where = f"the latest at {place_text(last['outlier'], told)} ({last['reason']})"
    return f"Of the last {found.looked_at} observations, {some}, {where}."


def _about_belief(found: Explanation) -> str:
    belief = found.belief
    assert belief is not None
    text = (
        f"Believed best now: {belief.where}, {estimate(belief.mean, belief.std)} (95 % interval "
        f"{rounded(belief.low, belief.std)} to {rounded(belief.high, belief.std)}, noise excluded)."
    )
    if (belief.steps or 0) > 1:
        text += f" It is {belief.steps} steps of max_step away."
    if not found.data.size:
        return f"{text} No observation is in use, so this is the prior at the point told last."
    if belief.beats is not None and belief.at_least is not None:
        about = "about " if found.beliefs else ""  # a mixture is not normal
        share = f"at least {about}{100 * belief.at_least:.1f} %"
        share = share if belief.at_least < 0.999 else "more than 99.9 %"
        text += f" It is better than {belief.beats}, with a probability of {share}."
    serious = sorted(found.beliefs.items(), key=lambda pair: -pair[1])
    weights = {name: weight for name, weight in serious if weight >= SERIOUS}
    if weights:
        weighed = "; ".join(f"{_in_times(name, found)}: {weight:.2f}" for name, weight in weights.items())
        text += f" Hypotheses about time and their weights: {weighed}.{_step_length(found, weights)}"
    if not found.follows:
        return text
    names = " and ".join(f"`{name}`" for name in found.follows)
    known = "it" if len(found.follows) == 1 else "them"
    return f"{text} The change follows {names}: with {known} known, hardly any of it is left to time."


def _in_times(name: str, found: Explanation) -> str:
    return with_place(name, lambda step: place_text(step, found.step_times.get(step)))


def _step_length(found: Explanation, names: Iterable[str]) -> str:
    """How long a step of these hypotheses is by the caller's clock, if any of them counts in steps."""
    dates = found.data.oldest_time is not None and is_date(found.data.oldest_time)
    length = found.step_length
    if length is None or (length == 1.0 and not dates) or not any(map(COUNTS_IN_STEPS.search, names)):
        return ""
    return f" A step in these names is {span_text(length, dates)}{'' if dates else ' units of time'} long."


def _about_data(found: Explanation) -> str:
    data = found.data
    if data.oldest_step is None or data.oldest_age is None or data.median_age is None or data.span is None:
        return ""
    dates = data.oldest_time is not None and is_date(data.oldest_time)
    told = data.oldest_time not in (None, data.oldest_step)
    if data.size == 1:
        return f"One observation is in use, from {place_text(data.oldest_step, data.oldest_time)}."
    span = f", over {span_text(data.span, dates)}{'' if dates else ' units of time'}" if told else ""
    return (
        f"{data.size} observations are in use, the oldest from "
        f"{place_text(data.oldest_step, data.oldest_time)}, "
        f"{counted(data.oldest_age, 'step')} old (median {data.median_age:g}){span}."
    )


def _about_coverage(found: Explanation) -> str:
    coverage, half = found.coverage, found.half
    if coverage is None or half is None:
        return "Too few observations yet to say whether the predictions can be trusted."
    if coverage.high < coverage.level or half.high < half.level:
        verdict = "the model is too sure of itself"
    elif half.low > half.level:
        verdict = "the model is more cautious than it needs to be"
    else:
        verdict = "consistent with what it claims"
    if found.reset is not None and found.reset.steps_ago < coverage.total:
        verdict += " (the last reset is among them)"
    return (
        f"Lately {coverage.inside} of {coverage.total} observations lay in the 95 % interval predicted for "
        f"them ({100 * coverage.share:.0f} %; 95 % interval {100 * coverage.low:.0f} to "
        f"{100 * coverage.high:.0f} %), and "
        f"{half.inside} in the 50 % interval: {verdict}."
    )


def _line(reason: str) -> str:
    """A reason that somebody has written, on one line: the explanation has a line for each of its parts."""
    return " ".join(reason.split())


def _small(probability: float) -> str:
    return f"{probability:.2g}" if probability > 1e-300 else "less than 1e-300"
