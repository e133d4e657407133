"""What the study of triggers found, as tables, verdicts and a page."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from windvane.checks import Array
from windvane.experiments.claims import Claim, verdict_of
from windvane.experiments.report import claim_list
from windvane.experiments.stamp import stamp
from windvane.experiments.tables import TextTable
from windvane.experiments.triggers import (
    BY_RUN_LENGTH,
    CONFIDENCE,
    DELTAS,
    DRIFT_STEPS,
    JUMP_STEPS,
    NEVER,
    QUIET_STEPS,
    RATES,
    RUN_LENGTH,
    SIZES,
    STATIC_STEPS,
    WATCHING_CHANGE,
    WITH_DELTA,
    TriggerStudy,
    interval,
    label,
    median,
    noticed,
)
from windvane.experiments.triggers_figure import figure
from windvane.files import write_text, writing
from windvane.plots import style

LEMMA, EXACT, EVIDENCE = (label(name, 0.1) for name in ("PosteriorBound", "ExactBound", "EDetector"))
ABOUT = """\
A trigger decides when the data no longer fit. Here each of them watches the same runs of GP-UCB, on
objectives of the paper's within-model comparison (unit square, lengthscale 0.2, noise variance 0.02) and with
the right model. Until its first reset ET-GP-UCB is GP-UCB, so a run that is never reset shows when each
trigger, at each promise, would have fired first.

`PosteriorBound` is the bound of Lemma 3. `ExactBound` tests the same observation without slack, and
`Likelihood` does so at slightly lower levels. `EDetector` adds up what single steps do not show. Their
docstrings say what each promises, and why it holds."""


def false_alarms(study: TriggerStudy) -> TextTable:
    """Promised and found, by trigger and delta."""
    rows = []
    for name in WITH_DELTA:
        cells = []
        for delta in DELTAS:
            count, runs = study.false_alarms(label(name, delta))
            low, high = interval(count, runs)
            cells.append(f"{count / runs:.1%} ({low:.1%}–{high:.1%})")
        promise = "delta, exactly" if name == "ExactBound" else "at most delta"
        rows.append((f"`{name}(delta)`", promise, *cells))
    notes = (
        f"Share of {study.static.shape[0]} static runs of {STATIC_STEPS} steps with any alarm, and its "
        f"{CONFIDENCE:.0%} interval. By step {STATIC_STEPS} `ExactBound` has spent 99% of its delta.",
        _patience(study),
    )
    return TextTable(("trigger", "promise", *(f"delta = {delta:g}" for delta in DELTAS)), rows, notes)


def _patience(study: TriggerStudy) -> str:
    count, runs = study.false_alarms(BY_RUN_LENGTH)
    low, high = interval(count, runs)
    mean, error = _mean_length(study)
    return (
        f"`{BY_RUN_LENGTH}` promises an alarm in at most {STATIC_STEPS / RUN_LENGTH:.1%} of these runs; "
        f"found: {count / runs:.1%} ({low:.1%}–{high:.1%}). And it promises {RUN_LENGTH:g} steps or more "
        f"until a false alarm, on average; found, on {len(study.lengths)} streams of standard normals in "
        f"place of residuals: {mean:.0f} ± {error:.0f} (standard error)."
    )


def _mean_length(study: TriggerStudy) -> tuple[float, float]:
    return float(study.lengths.mean()), float(study.lengths.std() / math.sqrt(len(study.lengths)))


def jumps(study: TriggerStudy) -> TextTable:
    """Share noticed and median delay, by size of the jump."""
    rows = [
        (f"`{name}`", *(_noticed(study.delays(size, name), JUMP_STEPS) for size in SIZES))
        for name in WATCHING_CHANGE
    ]
    note = (
        f"After {QUIET_STEPS} quiet steps the objective f becomes sqrt(1 - s²) f + s g, with g a fresh draw: "
        "a share s² of its variance is replaced, which is what `wv.calibrate` calls the size. "
        f"Share of {_runs(study.jumps)} runs in which that was noticed within {JUMP_STEPS} steps, and the "
        "median number of steps it took, 1 at the first; runs with an alarm before the jump are left out "
        "for that trigger."
    )
    return TextTable(("trigger", *(f"s = {size:g}" for size in SIZES)), rows, (note,))


def drifts(study: TriggerStudy) -> TextTable:
    """Share noticed and median time, by rate."""
    rows = [
        (f"`{name}`", *(_noticed(study.times(rate, name), DRIFT_STEPS) for rate in RATES))
        for name in WATCHING_CHANGE
    ]
    note = (
        f"The objective drifts at eps a step from the start (Assumption 2). Share of {_runs(study.drifts)} "
        f"runs in which that was noticed within {DRIFT_STEPS} steps, and the median number of steps it took."
    )
    return TextTable(("trigger", *(f"eps = {rate:g}" for rate in RATES)), rows, (note,))


def _runs(found: Any) -> int:
    return len(next(iter(found.values())))


def _noticed(steps: Array, most: int) -> str:
    middle = median(steps)
    return f"{noticed(steps):.0%}, {f'{middle:.0f}' if middle < math.inf else f'> {most}'}"


def claims(study: TriggerStudy) -> list[Claim]:
    """What the triggers promise, and what is claimed for them."""
    found = []
    exact = [(delta, *study.false_alarms(label("ExactBound", delta))) for delta in DELTAS]
    found.append(
        Claim(
            "While nothing changes, `ExactBound` fires with probability delta.",
            verdict_of(low <= delta <= high for delta, *n in exact for low, high in [interval(*n)]),
            ", ".join(f"{count / runs:.1%} at {delta:g}" for delta, count, runs in exact),
        )
    )
    bounded = [
        (name, delta, *study.false_alarms(label(name, delta)))
        for name in ("PosteriorBound", "Likelihood", "EDetector")
        for delta in DELTAS
    ]
    within = [interval(count, runs)[0] <= delta for _, delta, count, runs in bounded]
    count, runs = study.false_alarms(BY_RUN_LENGTH)
    within.append(interval(count, runs)[0] <= STATIC_STEPS / RUN_LENGTH)
    mean, error = _mean_length(study)
    within.append(mean + 2.6 * error >= RUN_LENGTH)
    found.append(
        Claim(
            "The other triggers fire no more often than they promise.",
            verdict_of(within),
            "; ".join(f"{name} {count / runs:.1%} at {delta:g}" for name, delta, count, runs in bounded)
            + f"; {BY_RUN_LENGTH} after {mean:.0f} steps on average",
        )
    )
    lemma, quick = (list(WATCHING_CHANGE).index(name) for name in (LEMMA, EXACT))
    runs_of_both = np.concatenate([*study.jumps.values(), *study.drifts.values()])[:, [lemma, quick]]
    later = [_step(one) < _step(other) for one, other in runs_of_both.tolist()]
    found.append(
        Claim(
            "`ExactBound` never notices a change later than Lemma 3's bound.",
            verdict_of([not any(later)]),
            f"later in {sum(later)} of {len(later)} runs with a jump or drift",
        )
    )
    found.append(_sooner("after a jump", study.delays, SIZES, LEMMA))
    found.append(_sooner("under slow drift", study.times, RATES, LEMMA))
    found.append(_sooner("under slow drift", study.times, RATES, EXACT))
    return found


def _step(alarm: float) -> float:
    return math.inf if alarm == NEVER else alarm


def _sooner(when: str, measure: Any, values: Sequence[float], rival: str) -> Claim:
    """That the detector's median delay is no longer and its share no smaller, for each value."""
    pairs = [(value, measure(value, EVIDENCE), measure(value, rival)) for value in values]
    return Claim(
        f"{when.capitalize()}, `{EVIDENCE}` notices no later and no less often than `{rival}`.",
        verdict_of(
            median(own) <= median(other) and noticed(own) >= noticed(other) for _, own, other in pairs
        ),
        "; ".join(f"at {value:g} {_words(own)} against {_words(other)}" for value, own, other in pairs),
    )


def _words(steps: Array) -> str:
    """The share that noticed, and the median time if more than half did."""
    share, middle = noticed(steps), median(steps)
    return f"{share:.0%} after {middle:.0f}" if middle < math.inf else f"{share:.0%}"


SECTIONS = (("While nothing changes", false_alarms), ("After a jump", jumps), ("Under slow drift", drifts))


def markdown(study: TriggerStudy, command: str, picture: str) -> str:
    """The page."""
    parts = ["# Triggers compared", f"Written by `{command}`, not by hand. {stamp()}", ABOUT]
    parts += [claim_list(claims(study)), f"![False alarms and delays of each trigger]({picture})"]
    for title, table in SECTIONS:
        parts += [f"## {title}", table(study).markdown()]
    return "\n\n".join(parts) + "\n"


def write(study: TriggerStudy, folder: Path, command: str, page: Path | None = None) -> None:
    """triggers.md, triggers.json and the figure; and the same page elsewhere, its picture in images/."""
    with writing(folder, "choose a place you can write to", inside=True):
        write_text(folder / "triggers.md", markdown(study, command, "figure.png"))
        write_text(folder / "triggers.json", json.dumps(study.plain) + "\n")
        style.save(figure(study), folder)
        if page is not None:
            images = page.parent / "images"
            images.mkdir(parents=True, exist_ok=True)
            write_text(page, markdown(study, command, "images/triggers.png"))
            (images / "triggers.png").write_bytes((folder / "figure.png").read_bytes())
