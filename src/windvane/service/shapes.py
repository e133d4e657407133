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
    step: int | None
    reset: bool
    reason: str
    event: dict[str, Any] | None = Field(
        description="everything that happened at this tell, reset or amendment"
    )
    metadata: dict[str, Any]
    key: str | None


class EventsShape(BaseModel):
    """Records in order, and the number of the last one there is."""

    events: list[RecordShape]
    head: int


class BestShape(BaseModel):
    """The point believed best now, with the model's mean and standard deviation there."""

    x: Any
    mean: float
    std: float
    steps: int | None = Field(None, description="how many moves away it is, if `max_step` limits them")


class PredictionShape(BaseModel):
    """Mean and standard deviation of the objective, noise excluded, point by point."""

    mean: list[float]
    std: list[float]


class AxisShape(BaseModel):
    """One axis of a surface."""

    name: str
    values: list[Any]


class SurfaceShape(BaseModel):
    """A slice of the model on a grid; with two axes a row for each value of the second."""

    axes: list[AxisShape] = Field(min_length=1, max_length=2)
    at: Any = Field(description="the point that the slice goes through")
    mean: list[float] | list[list[float]]
    std: list[float] | list[list[float]]


class ExplanationShape(BaseModel):
    """In words and figures: the last reset, the chance of a false alarm, the believed best."""

    text: str


class HealthShape(BaseModel):
    """Whether the service and its database work."""

    status: Literal["ok", "failing"]
    database: str
    version: str
