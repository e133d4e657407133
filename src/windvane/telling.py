"""What an observation leads to: forecast -> opinion -> verdict -> dataset -> surrogate -> Event.

The objective is followed this way, and so is every constraint: each with its own surrogate, trigger and
retention. Nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, final

import numpy as np

from windvane.checks import Array
from windvane.composition import Composition
from windvane.data import Change, Dataset, Event, Observation, Opinion, Outcome, Prediction
from windvane.failures import Evaluation, Evaluations
from windvane.feasibility import Feasibility, chance, claimed, more_cautious
from windvane.moments import NamedSteps, in_words, with_steps
from windvane.progress import Held, Progress, limit_view
from windvane.reading import Reading
from windvane.spaces.base import Domain
from windvane.surrogates import Surrogate
from windvane.surrogates.base import Forecast
from windvane.triggers import Memory, alarm
from windvane.triggers.ruling import Ruling, judge, reason

OF_AN_OUTCOME = tuple(
    sorted({each.name for each in fields(Event)} & {each.name for each in fields(Outcome)})
)  # what an outcome has in common with an event


@final
@dataclass(frozen=True, eq=False)
class Teller:
    """Where a loop stands before an observation; inside, y is `sign` times what is told."""

    space: Domain
    composition: Composition
    seed: int
    sign: float
    before: Progress

    def forecast(self, new: Observation) -> Forecast:
        """What is expected of an observation, before it is seen."""
        return self.before.surrogate.forecast(new.x, new.time, new.accuracy)

    def told(
        self, new: Observation, forecast: Forecast, x: Any, reading: Reading, stamp: float
    ) -> tuple[Progress, Event]:
        """Where the loop stands after an observation, which was forecast, and the record of it.

        `x` is its point as told.
        """
        before, composition = self.before, self.composition
        opinion = before.surrogate.weigh(new, forecast)
        surrogate, log_density = before.surrogate, opinion.log_density  # what is fitted below has seen y
        ruling, memory = self._judge(new, forecast.prediction, opinion)
        if ruling.decision == "triggered" and getattr(composition.learning, "reconsiders", False):
            search, rescale = composition.learning.search, composition.rescale
            surrogate = surrogate.reconsider(new, opinion, search, rescale, self.seed)
            if surrogate is not before.surrogate:
                opinion = surrogate.weigh(new, surrogate.forecast(new.x, new.time, new.accuracy))
                ruling, memory = self._judge(new, forecast.prediction, opinion)

        elapsed, held, allowance, kept = before.elapsed + 1, None, before.allowance, 0
        if ruling.set_aside:
            held = Held(new, self._again(x, new.x))
        elif ruling.decision == "no":
            data, allowance = composition.limit.apply(surrogate.data + new, limit_view(surrogate), allowance)
            surrogate = surrogate.follow(data, opinion)
        else:
            data = surrogate.data
            if before.held is not None and ruling.outlier is None:
                data += before.held.observation
            data, allowance = composition.limit.apply(
                self._kept(ruling, data + new), limit_view(surrogate), composition.limit.start()
            )
            kept, elapsed, memory = len(data), 1, composition.trigger.start()
            surrogate = surrogate.restart(data, opinion, self._heard(ruling))
        age = before.age
        if not ruling.set_aside:
            reset = ruling.decision != "no"
            thinned = not reset and len(surrogate.data) < len(before.surrogate.data)
            surrogate, age = self._learned(surrogate, new, 0 if reset else before.elapsed, thinned)
        origin = stamp - new.time if before.last_time is None else before.origin
        evaluations = self._evaluations(new, surrogate.data if ruling.decision != "no" else None)
        after = Progress(
            surrogate, memory, allowance, new.step + 1, elapsed, age, stamp, origin, new.x, held, evaluations
        )
        return after, self._event(after, new, x, reading, forecast.prediction, log_density, ruling, kept)

    def _evaluations(self, new: Observation, kept: Dataset | None) -> Evaluations | None:
        """The evaluations of which the chance of failing is learned; a reset drops them with the data."""
        evaluations = self.before.evaluations
        if evaluations is None:
            return None
        evaluations += Evaluation(new.x, False, new.time, new.step)
        if kept is not None:
            evaluations = evaluations.since(int(kept.steps[0]) if len(kept) else new.step + 1)
        return evaluations if evaluations.failed.any() else None  # none is remembered that failed

    def _judge(self, new: Observation, prediction: Prediction, opinion: Opinion) -> tuple[Ruling, Memory]:
        """What to do about an observation, and the trigger's memory if nothing is reset."""
        before, composition = self.before, self.composition
        return judge(
            composition.trigger,
            composition.window,
            before.memory,
            prediction,
            new,
            before.elapsed,
            opinion=opinion,
            held=None if before.held is None else before.held.observation,
            trusted=composition.learning.monitors(before.elapsed, self.space.parameter_count, new.step),
            may_set_aside=not composition.rescale
            or before.last_time is not None,  # y's scale is of the first
        )

    def _heard(self, ruling: Ruling) -> Change | None:
        """What is believed to have happened, if the retention has been told that."""
        if ruling.decision != "triggered" or not getattr(self.composition.on_trigger, "reads_verdict", False):
            return None
        return ruling.verdict.change

    def _kept(self, ruling: Ruling, data: Dataset) -> Dataset:
        """What survives a reset."""
        composition = self.composition
        keeper = composition.on_trigger if ruling.decision == "triggered" else composition.on_forced
        read = {"verdict": ruling.verdict} if getattr(keeper, "reads_verdict", False) else {}
        return keeper.keep(data, self._fires, **read)

    def _again(self, told: Any, point: Array) -> Any:
        """The told point in the types that `ask` gives: to the last bit, where decoding would round."""
        if not isinstance(told, dict):
            return told
        decoded = self.space.decode(point)
        return {name: float(told[name]) if isinstance(v, float) else v for name, v in decoded.items()}

    def _learned(
        self, surrogate: Surrogate, new: Observation, elapsed: int, thinned: bool
    ) -> tuple[Surrogate, int]:
        """Fitted if it is time to, and the tells since the last fit; `elapsed` is 0 right after a reset.

        Where many observations were dropped together there was work enough in this step: a fit can wait.
        """
        composition, age, dim = self.composition, self.before.age + 1, self.space.parameter_count
        if not thinned and composition.learning.due(elapsed, len(surrogate.data), age, dim):
            learned = surrogate.learn(composition.learning.search, composition.rescale, seed=self.seed)
            return learned, age if learned is surrogate else 0
        if composition.rescale and self.before.last_time is None:
            return surrogate.centre(np.array([new.y])), age
        return surrogate, age

    def _event(
        self,
        after: Progress,
        new: Observation,
        x: Any,
        reading: Reading,
        prediction: Prediction,
        log_density: float,
        ruling: Ruling,
        kept: int,
    ) -> Event:
        change = ruling.verdict.change
        time_of = self._time_of(new, after.origin, None if change is None else change.past)
        sentence = with_steps(reason(ruling, new, prediction, self.sign), lambda named: named.at(time_of))
        return Event(
            step=new.step,
            time=float(after.last_time),  # type: ignore[arg-type]  # it has just been told
            x=x,
            y=reading.y,
            mean=self.sign * prediction.mean,
            std=prediction.std,
            noise_variance=prediction.noise_variance,
            log_density=log_density,
            statistic=ruling.verdict.statistic,
            threshold=ruling.verdict.threshold,
            monitored=ruling.monitored,
            elapsed=ruling.elapsed,
            reset=ruling.decision != "no",
            reason=in_words(sentence),
            sentence=sentence if any(isinstance(part, NamedSteps) for part in sentence) else (),
            kept=kept,
            size=len(after.surrogate.data),
            set_aside=ruling.set_aside,
            outlier=None if ruling.outlier is None else ruling.outlier.step,
            beliefs=after.surrogate.beliefs(),
            change=self._changed(ruling, time_of),
            cause="" if ruling.decision == "no" else ruling.decision,
            told_variance=reading.variance,
            values=reading.values,
        )

    def _time_of(
        self, new: Observation, origin: float, past: Dataset | None = None
    ) -> Callable[[int], float | None]:
        """The time of a step, as it was told; None if that observation is no longer there.

        `past` are observations of a regime that has come back.
        """

        def time_of(step: int) -> float | None:
            held = self.before.held
            for data in (self.before.surrogate.data, past):
                row = 0 if data is None else int(np.searchsorted(data.steps, step))
                if data is not None and row < len(data) and data.steps[row] == step:
                    return float(data.times[row]) + origin
            others = (new,) if held is None else (new, held.observation)
            return next((each.time + origin for each in others if each.step == step), None)

        return time_of

    def _changed(self, ruling: Ruling, time_of: Callable[[int], float | None]) -> Change | None:
        """What is believed to have happened, as the caller sees it."""
        change = ruling.verdict.change if ruling.decision == "triggered" else None
        if change is None:
            return None
        return change._replace(level=self.sign * change.level + 0.0, past=None, time=time_of(change.step))

    def _fires(self, data: Dataset, observation: Observation) -> bool:
        """Whether an observation, predicted from `data` alone, raises the trigger's alarm (Alg. 2)."""
        prediction = self.before.surrogate.alone(data, observation)
        trigger = alarm(self.composition.trigger)
        verdict, _ = trigger.test(trigger.start(), prediction, observation.y, len(data) + 1)
        return verdict.fired or verdict.suspect


def outcomes_told(
    space: Domain,
    feasibility: Feasibility,
    seed: int,
    loops: tuple[Progress, ...],
    new: Observation,
    x: Any,
    values: Mapping[str, float],
    stamp: float,
) -> tuple[tuple[Progress, ...], dict[str, Outcome]]:
    """Where the loops of the constraints stand after what was told of them beside an observation."""
    constraints, forecasts = feasibility.constraints, feasibility.forecasts(new.x, new.time)
    after, found = [], {}
    for one, loop, forecast in zip(constraints.each, loops, forecasts, strict=True):
        if one.name not in values:
            after.append(loop)
            continue
        value, sign = values[one.name], one.constraint.sign
        teller = Teller(space, one.composition, seed, sign, loop)
        told = Observation(new.x, sign * value, new.time, new.step)
        z = loop.surrogate.score_of(forecast, sign * one.constraint.limit)
        following, event = teller.told(told, forecast, x, Reading.of(value, None, None), stamp)
        shared = {field: getattr(event, field) for field in OF_AN_OUTCOME}
        violated = not one.constraint.met(value)
        wrong = violated and claimed(one, loop, z, constraints.safe)
        after.append(following._replace(caution=more_cautious(loop.caution, wrong, constraints.safe)))
        found[one.name] = Outcome(
            value=value, probability=float(chance(one, loop.surrogate, z)), violated=violated, **shared
        )
    return tuple(after), found
