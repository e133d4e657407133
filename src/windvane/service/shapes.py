"""What is sent back, for the OpenAPI document. Answers are written from the study's own records."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

Kind = Literal["asked", "told", "failed", "expired", "reset", "retracted", "corrected", "redefined"]


class SessionShape(BaseModel):
    """Who is asking, and what they may do."""

    version: str
    scopes: list[Literal["read", "write"]]
    authentication: bool = Field(description="whether tokens are needed")


class AlgorithmShape(BaseModel):
    """An algorithm, with the options that it understands."""

    name: str
    help: str
    options: list[str]


class AlgorithmsShape(BaseModel):
    """All algorithms."""

    algorithms: list[AlgorithmShape]


class HypothesesShape(BaseModel):
    """What hypotheses about time mean, by their names in `beliefs`."""

    hypotheses: dict[str, str] = Field(description="{} in a name and its meaning stands for a number")


class SummaryShape(BaseModel):
    """A study at a glance."""

    name: str
    algorithm: str
    goal: Literal["maximize", "minimize"]
    created: float = Field(description="seconds since 1970")
    definition: dict[str, Any] = Field(description="what it was created with")
    head: int = Field(description="number of the last record")
    trials: int
    pending: int
    tells: int
    resets: int
    failed: int
    size: int | None = Field(description="observations in use")
    last_at: float | None = Field(description="of the last record, seconds since 1970")
    last_reset: int | None = Field(description="step of the last reset")
    constraints: dict[str, dict[str, Any]] = Field(
        description='what must hold beside the objective: {"heat": {"at_most": 90.0, "unit": "°C"}}'
    )
    safe: float | None = Field(
        description="the probability with which each must hold where a point is asked for; null: no such rule"
    )
    violations: int = Field(description="tells at which a constraint was beyond its limit")
    last_violation: int | None = Field(description="step of the last of these")
    last_retreat: int | None = Field(
        description="step of the last observation after which nothing was believed safe"
    )
    damaged: str | None = Field(
        description="why the study cannot be opened; its definition is then empty. Null: it can"
    )


class StudiesShape(BaseModel):
    """All studies, by name."""

    studies: list[SummaryShape]


class TrialShape(BaseModel):
    """A point that was asked for."""

    number: int
    x: Any
    status: Literal["pending", "told", "failed", "expired", "retracted"]
    asked_at: float
    expires_at: float | None
    metadata: dict[str, Any]


class TrialsShape(BaseModel):
    """Trials, oldest first."""

    trials: list[TrialShape]


class RecordShape(BaseModel):
    """An entry of a study's journal."""

    seq: int
    kind: Kind
    at: float = Field(description="when it was recorded, seconds since 1970")
    trial: int | None
    x: Any
    y: float | None
    time: float | None = Field(description="the caller's timestamp as given")
    expires: float | None = Field(description="when the trial expires, seconds since 1970; null: never")
    step: int | None
    reset: bool
    reason: str
    event: dict[str, Any] | None = Field(
        description="everything that happened at this tell, reset or amendment"
    )
    metadata: dict[str, Any]
    key: str | None
    violated: list[str] = Field(description="of a tell: the constraints beyond their limits")
    outcome_resets: list[str] = Field(description="of a tell: the constraints whose own model was reset")


class EventsShape(BaseModel):
    """Records in order, and the number of the last one there is."""

    events: list[RecordShape]
    head: int


class BelievedShape(BaseModel):
    """The point believed best after a tell."""

    seq: int = Field(description="of the record of that tell")
    step: int
    x: Any
    mean: float
    std: float


class TrackShape(BaseModel):
    """What was believed best, oldest first."""

    track: list[BelievedShape]


class OutcomeBeliefShape(BaseModel):
    """What is believed of a constraint at a point."""

    mean: float
    std: float
    probability: float = Field(description="that it holds there")


class BestShape(BaseModel):
    """The point believed best now, with the model's mean and standard deviation there."""

    x: Any
    mean: float
    std: float
    steps: int | None = Field(None, description="how many moves away it is, if `max_step` limits them")
    feasible: float | None = Field(
        None, description="how probably all constraints hold there, if there are any"
    )
    outcomes: dict[str, OutcomeBeliefShape] = Field(description="what is believed of the constraints there")


class PredictionShape(BaseModel):
    """Mean and standard deviation of the objective or a constraint, noise excluded, point by point.

    `feasible` and `feasibility` if they were asked for: how probably all constraints hold, and each of them.
    """

    mean: list[float]
    std: list[float]
    feasible: list[float] | None = None
    feasibility: dict[str, list[float]] | None = None


class AxisShape(BaseModel):
    """One axis of a surface."""

    name: str
    values: list[Any]


class SurfaceShape(BaseModel):
    """A slice of the model on a grid; with two axes a row for each value of the second.

    `feasible` and `feasibility` if they were asked for: how probably all constraints hold, and each of them.
    """

    axes: list[AxisShape] = Field(min_length=1, max_length=2)
    at: Any = Field(description="the point that the slice goes through")
    mean: list[float] | list[list[float]]
    std: list[float] | list[list[float]]
    of: str | None = Field(None, description="the constraint that it is of; null: the objective")
    feasible: list[float] | list[list[float]] | None = None
    feasibility: dict[str, list[float] | list[list[float]]] | None = None


class ExplanationShape(BaseModel):
    """In words and figures: the last reset, the chance of a false alarm, the believed best."""

    text: str


class HealthShape(BaseModel):
    """Whether the process works, or should be started anew."""

    status: Literal["ok", "failing"]
    writer: Literal["ok", "stuck"] = Field(description="stuck: a step has not ended for minutes")
    webhooks: Literal["ok", "off", "dead"] = Field(description="dead: nobody sends them any more")
    version: str


class ReadinessShape(HealthShape):
    """Whether requests can be answered now: the process works, and so does its database."""

    database: Literal["ok", "failing"]
    stopping: bool = Field(description="whether the service was told to stop")
