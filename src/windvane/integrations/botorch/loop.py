"""Ask and tell around a BoTorch model: Windvane's triggers and retention, the user's model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from windvane.acquisition import LogBeta, Schedule
from windvane.algorithms import fresh_seed
from windvane.data import Best, Dataset, Event, Observation, Prediction, Verdict
from windvane.errors import InvalidArgument, InvalidType
from windvane.integrations.botorch.acquisition import maximize
from windvane.integrations.botorch.models import MakeModel, Models
from windvane.integrations.botorch.plan import LoopPlan, box_of
from windvane.integrations.botorch.points import read_point, read_value
from windvane.integrations.botorch.posterior import Model, moments, predict
from windvane.integrations.botorch.progress import LoopProgress
from windvane.integrations.botorch.proposals import MakeAcquisition, Optimize, Proposals
from windvane.moments import in_words
from windvane.retention import Empty, LastPoint, Retention
from windvane.triggers import Memory, PosteriorBound, ResetWindow, Trigger, alarm
from windvane.triggers.ruling import Ruling, judge, reason

NO_CONSTRAINTS = (
    "the loop has a model of the objective only, so that it cannot follow constraints; "
    "wv.make(space, constraints={'heat': wv.AtMost(90)}) can"
)
SILENT = Prediction(math.nan, math.nan, math.nan)  # before there is a model


class EventTriggeredLoop:
    """Bayesian optimisation with a BoTorch model that is reset when an observation contradicts it.

    `make_model(X, Y)` builds the model from the observations in use, n x d and n x 1, and fits it if you
    like. `Y` is to be maximised: with `goal="minimize"` its sign has been turned. What
    `make_acquisition(model, X, Y)` returns is maximised by `optimize(acquisition, bounds)`; by default it is
    mean + sqrt(beta) std, `beta` being a schedule.

    `learning`: for so many steps after a start or reset nothing is monitored. After that the hyperparameters
    stay as they are (`freeze`) and further observations are conditioned on, because a fit at every
    step would explain away what the trigger looks for. By default 20, or 2d if that is more; 0 is for a
    model whose hyperparameters are given: it is made anew at every step and monitored from the first.

    `initial`: with fewer observations `make_model` is not called, points are those of a Sobol sequence, and
    nothing is predicted. With `time_column`, X has one more column, the time, which is 1 at the first
    observation. `noise_variance` is asked of the model unless it is given. A `window` may forbid or force
    resets; a forced one keeps nothing. The defaults are those of `wv.make("et-gp-ucb")`.

    >>> from botorch.models import SingleTaskGP
    >>> loop = EventTriggeredLoop(SingleTaskGP, torch.tensor([[0.0], [1.0]], dtype=torch.float64), seed=0)
    >>> x = loop.ask()
    >>> event = loop.tell(x, 0.7)
    >>> event.step, event.reset, event.size
    (1, False, 1)
    """

    def __init__(
        self,
        make_model: MakeModel,
        bounds: Tensor,
        *,
        make_acquisition: MakeAcquisition | None = None,
        optimize: Optimize = maximize,
        trigger: Trigger | None = None,
        retention: Retention | None = None,
        window: ResetWindow | None = None,
        beta: Schedule | None = None,
        learning: int | None = None,
        freeze: bool = True,
        initial: int = 1,
        noise_variance: float | None = None,
        time_column: bool = False,
        goal: str = "maximize",
        seed: int | None = None,
        **unknown: Any,
    ) -> None:
        _refuse("EventTriggeredLoop", unknown)
        if beta is not None and make_acquisition is not None:
            raise InvalidArgument(
                "beta=, make_acquisition=: give one of the two; your acquisition has its own"
            )
        box, dtype = box_of(bounds)
        plan = LoopPlan(
            box=box,
            dtype=dtype,
            goal=goal,
            seed=fresh_seed() if seed is None else seed,
            trigger=PosteriorBound() if trigger is None else trigger,
            retention=LastPoint() if retention is None else retention,
            window=ResetWindow() if window is None else window,
            beta=LogBeta() if beta is None else beta,
            learning=learning,
            freeze=freeze,
            initial=initial,
            noise_variance=noise_variance,
            time_column=time_column,
        )
        self._begin(plan, LoopProgress.start(plan), bounds.device, make_model, make_acquisition, optimize)

    def _begin(
        self,
        plan: LoopPlan,
        progress: LoopProgress,
        device: torch.device,
        make_model: MakeModel,
        make_acquisition: MakeAcquisition | None,
        optimize: Optimize,
    ) -> None:
        if not callable(make_model):
            raise InvalidType(f"make_model={make_model!r}: must be a function of (X, Y)")
        self.plan, self._progress = plan, progress
        self._models = Models(make_model, plan, device)
        self._proposals = Proposals(plan, self._models, make_acquisition, optimize)
        self._model: tuple[Dataset, Model | None] | None = None
        self._asked: tuple[float, Tensor] | None = None

    def __repr__(self) -> str:
        return f"<EventTriggeredLoop on {self.plan.box}: step {self.step}, {self.size} observations in use>"

    # -- where it stands ---------------------------------------------------------------------------------

    @property
    def step(self) -> int:
        """The running number t of the next observation, from 1."""
        return self._progress.step

    @property
    def time(self) -> float:
        """The time of the next observation unless the caller says otherwise: one after the last."""
        return self._progress.time

    @property
    def size(self) -> int:
        """The number of observations in use."""
        return len(self._progress.data)

    @property
    def data(self) -> tuple[Tensor, Tensor]:
        """The X and Y in use, as `make_model` is handed them."""
        return self._models.data(self._progress.data)

    @property
    def model(self) -> Model | None:
        """The model of the observations in use; None while they are fewer than `initial`."""
        data, learned = self._progress.data, self._progress.learned
        if self._model is None or self._model[0] is not data:
            made = self._models.build(data) if learned is None else self._models.build_frozen(data, learned)
            self._model = (data, made)
        return self._model[1]

    # -- asking ------------------------------------------------------------------------------------------

    def ask(self, time: float | None = None) -> Tensor:
        """The next point to evaluate, d coordinates. Asking again without telling gives the same point.

        After an observation that was set aside (`event.set_aside`) it is that observation's point.
        """
        _, now = self._progress.now(time)
        if self._progress.held is not None:
            return self._models.tensor(self._progress.held.x)
        if self._asked is None or self._asked[0] != now:
            self._asked = (now, self._proposals.next(self.model, self._progress, now))
        return self._asked[1].clone()

    def predict(self, X: Any, time: float | None = None) -> tuple[Tensor, Tensor]:
        """Mean and standard deviation of the objective (noise excluded) at m points, m x d."""
        if not isinstance(X, Tensor | np.ndarray | Sequence) or not len(X):
            raise InvalidArgument(f"X: must be one or more points, m x {self.plan.box.dim}, got {X!r}")
        points = np.stack([read_point("X", row, self.plan.box) for row in X])
        _, now = self._progress.now(time)
        model = self._known("predict")
        with torch.no_grad():
            mean, variance = moments(model.posterior(self._models.inputs(points, now).unsqueeze(-2)))
        return self.plan.sign * mean.reshape(-1), variance.clamp_min(0.0).sqrt().reshape(-1)

    def best(self, time: float | None = None) -> Best:
        """The point believed best now: the maximiser of the posterior mean."""
        _, now = self._progress.now(time)
        model = self._known("best")
        point = self._proposals.best(model, self._progress, now)
        mean, std = self.predict(point[None], time)
        return Best(point, float(mean), float(std))

    def _known(self, name: str) -> Model:
        model = self.model
        if model is None:
            raise InvalidArgument(
                f"{name}(): no model yet, {self.size} of {self.plan.initial} observations are in use"
            )
        return model

    # -- telling -----------------------------------------------------------------------------------------

    def tell(self, x: Any, y: Any, time: float | None = None, **unknown: Any) -> Event:
        """Record the value `y` observed at `x` (d, or 1 x d); returns everything that happened."""
        _refuse("tell", unknown)
        point, value = read_point("x", x, self.plan.box), read_value(y)
        stamp, now = self._progress.now(time)
        new = Observation(point, self.plan.sign * value, now, self.step)
        prediction = self._predict(self.model, new)
        ruling, memory = self._judge(new, prediction)
        before = self._progress
        self._progress = before.after(ruling, new, stamp, memory, self._kept(ruling, new), self.plan)
        self._asked = None
        return self._event(new, stamp, value, prediction or SILENT, ruling)

    def _predict(self, model: Model | None, new: Observation) -> Prediction | None:
        if model is None:
            return None
        return predict(model, self._models.inputs(new.x[None], new.time), self.plan.noise_variance)

    def _judge(self, new: Observation, prediction: Prediction | None) -> tuple[Ruling, Memory]:
        plan, progress = self.plan, self._progress
        elapsed = progress.elapsed
        if prediction is None:  # nothing to contradict
            verdict = Verdict(False, math.nan, math.inf)
            decision = plan.window.decide(False, elapsed)
            return Ruling(verdict, False, elapsed, decision, False, None), plan.trigger.start()
        trusted = elapsed > (plan.learning or 0)
        return judge(
            plan.trigger,
            plan.window,
            progress.memory,
            prediction,
            new,
            elapsed,
            held=progress.held,
            trusted=trusted,
        )

    def _kept(self, ruling: Ruling, new: Observation) -> Dataset | None:
        """What survives a reset; None if there is none."""
        if ruling.decision == "no":
            return None
        data, held = self._progress.data, self._progress.held
        if held is not None and ruling.outlier is None:
            data += held
        keeper = self.plan.retention if ruling.decision == "triggered" else Empty()
        read = {"verdict": ruling.verdict} if getattr(keeper, "reads_verdict", False) else {}
        return keeper.keep(data + new, self._fires, **read)

    def _fires(self, data: Dataset, observation: Observation) -> bool:
        """Whether an observation, predicted from `data` alone, raises the trigger's alarm (Alg. 2)."""
        prediction = self._predict(self._models.build(data), observation)
        if prediction is None:
            return False
        trigger = alarm(self.plan.trigger)
        verdict, _ = trigger.test(trigger.start(), prediction, observation.y, len(data) + 1)
        return verdict.fired or verdict.suspect

    def _event(
        self, new: Observation, stamp: float, y: float, prediction: Prediction, ruling: Ruling
    ) -> Event:
        reset = ruling.decision != "no"
        return Event(
            step=new.step,
            time=stamp,
            x=new.x.copy(),
            y=y,
            mean=self.plan.sign * prediction.mean,
            std=prediction.std,
            noise_variance=prediction.noise_variance,
            log_density=prediction.log_density(new.y),
            statistic=ruling.verdict.statistic,
            threshold=ruling.verdict.threshold,
            monitored=ruling.monitored,
            elapsed=ruling.elapsed,
            reset=reset,
            reason=in_words(reason(ruling, new, prediction, self.plan.sign)),
            kept=self.size if reset else 0,
            size=self.size,
            set_aside=ruling.set_aside,
            cause="" if ruling.decision == "no" else ruling.decision,
            outlier=None if ruling.outlier is None else ruling.outlier.step,
        )

    # -- state -------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Plain JSON: the plan, the observations in use, the counters; neither model nor functions."""
        return self._progress.state(self.plan)

    @classmethod
    def restore(
        cls,
        state: Any,
        make_model: MakeModel,
        *,
        make_acquisition: MakeAcquisition | None = None,
        optimize: Optimize = maximize,
        device: torch.device | str = "cpu",
    ) -> EventTriggeredLoop:
        """The loop that wrote the state; with the same functions, if they are deterministic, bit for bit."""
        plan, progress = LoopProgress.restore(state)
        loop = cls.__new__(cls)
        loop._begin(plan, progress, torch.device(device), make_model, make_acquisition, optimize)
        return loop


def _refuse(where: str, unknown: dict[str, Any]) -> None:
    """Say why there are no constraints here to whoever gives some."""
    for name, value in unknown.items():
        if where == "tell" or name in ("constraints", "safe", "start"):
            raise InvalidType(f"{where}({name}={value!r}): {NO_CONSTRAINTS}")
        raise InvalidType(f"{where}({name}={value!r}): there is no such argument")
