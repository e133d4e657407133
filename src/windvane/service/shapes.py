"""What is sent back, for the OpenAPI document. Answers are written from the study's own records."""

from __future__ import annotations

from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, Field, create_model

from windvane.protocol import Record, Summary, Trial
from windvane.study.track import Believed


def _fields_of(record: type, **descriptions: str) -> Any:
    """The fields of a record, all of which are sent; the database's own number is not."""
    hints = {name: hint for name, hint in get_type_hints(record).items() if name != "id"}
    fields: Any = {name: (hint, Field(description=descriptions.get(name))) for name, hint in hints.items()}
    return create_model(f"{record.__name__}Fields", **fields)


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


class SummaryShape(
    _fields_of(  # type: ignore[misc]
        Summary,
        created="seconds since 1970",
        definition="what it was created with",
        head="number of the last record",
        size="observations in use",
        last_at="of the last record, seconds since 1970",
        last_reset="step of the last reset",
        violations="tells at which a constraint was beyond its limit",
        last_violation="step of the last of these",
        last_retreat="step of the last observation after which nothing was believed safe",
        damaged="why the study cannot be opened; its definition is then empty. Null: it can",
    )
):
    """A study at a glance."""

    constraints: dict[str, dict[str, Any]] = Field(
        description='what must hold beside the objective: {"heat": {"at_most": 90.0, "unit": "°C"}}'
    )
    safe: float | None = Field(
        description="the probability with which each must hold where a point is asked for; null: no such rule"
    )


class StudiesShape(BaseModel):
    """All studies, by name."""

    studies: list[SummaryShape]


class TrialShape(_fields_of(Trial)):  # type: ignore[misc]
    """A point that was asked for."""


class TrialsShape(BaseModel):
    """Trials, oldest first."""

    trials: list[TrialShape]


class RecordShape(
    _fields_of(  # type: ignore[misc]
        Record,
        at="when it was recorded, seconds since 1970",
        time="the caller's timestamp as given",
        expires="when the trial expires, seconds since 1970; null: never",
        event="everything that happened at this tell, reset or amendment",
        violated="of a tell: the constraints beyond their limits",
        outcome_resets="of a tell: the constraints whose own model was reset",
    )
):
    """An entry of a study's journal."""


class EventsShape(BaseModel):
    """Records in order, and the number of the last one there is."""

    events: list[RecordShape]
    head: int


class BelievedShape(_fields_of(Believed, seq="of the record of that tell")):  # type: ignore[misc]
    """The point believed best after a tell."""


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
