"""What may be sent: the bodies of requests, with their limits. Values are never converted."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from windvane.protocol.requests import DAY
from windvane.service import limits

Scalar = Annotated[str, Field(max_length=1000)] | bool | int | float
Finite = Annotated[float, Field(allow_inf_nan=False)]
Pair = Annotated[list[Finite], Field(min_length=2, max_length=2)]
Levels = Annotated[list[int], Field(min_length=2, max_length=2)]
Vector = Annotated[list[Finite], Field(min_length=1, max_length=limits.PARAMETERS)]
Arm = Annotated[int, Field(ge=0, lt=max(limits.ARMS, limits.CANDIDATES))]
Named = Annotated[dict[str, Scalar], Field(min_length=1, max_length=limits.PARAMETERS)]
Point = Vector | Arm | Named
Seen = Annotated[dict[str, Scalar], Field(max_length=limits.PARAMETERS)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Repeats = Annotated[list[Finite], Field(min_length=1, max_length=limits.REPEATS)]
Outcomes = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=limits.NAME)], Finite | None],
    Field(
        max_length=limits.PARAMETERS,
        description='values of constraints by name: {"heat": 84.2}; null, or left out: not measured',
    ),
]
Serial = Annotated[int, Field(ge=1, le=limits.SERIAL)]
Words = Annotated[str, Field(max_length=limits.REASON)]
Metadata = Annotated[
    dict[str, Any], Field(description=f"anything of yours, at most {limits.METADATA:,} bytes of JSON")
]


def examples(*bodies: dict[str, Any]) -> ConfigDict:
    """The settings of a body whose document shows these."""
    return ConfigDict(json_schema_extra={"examples": list(bodies)})


class Body(BaseModel):
    """What all bodies have in common: no unknown fields, no conversions."""

    model_config = ConfigDict(extra="forbid", strict=True)


class WriteBody(Body):
    """What is written to a journal, with notes of the caller's."""

    metadata: Metadata | None = None


class ReasonBody(WriteBody):
    """What is written with a reason."""

    reason: Words = ""


class ParameterBody(Body):
    """What any parameter may say: whether it is observed, not chosen."""

    context: Annotated[bool, Field(description="observed, not chosen: every ask says what it is")] = False
    period: Annotated[
        bool, Field(description="of a context: the range is one turn of something periodic")
    ] = False
    clip: Annotated[bool, Field(description="of a context: values beyond the range count as its end")] = False


class NumberBody(ParameterBody):
    """What numbers may say besides."""

    log: bool = False
    unit: Annotated[str, Field(max_length=limits.UNIT)] = ""


class RealBody(NumberBody):
    """A real parameter."""

    real: Pair
    step: Annotated[
        Positive | None, Field(description="the distance between the values that can be set; null: any")
    ] = None


class IntegerBody(NumberBody):
    """An integer parameter."""

    integer: Levels


class ChoiceBody(ParameterBody):
    """One of several options."""

    choice: Annotated[list[Scalar], Field(min_length=1, max_length=limits.OPTIONS)]


class BoxBody(Body):
    """Real coordinates, each between two bounds."""

    box: Annotated[list[Pair], Field(min_length=1, max_length=limits.PARAMETERS)]


class ArmsBody(Body):
    """So many alternatives, numbered from 0."""

    arms: Annotated[int, Field(ge=1, le=limits.ARMS)]


class CandidatesBody(Body):
    """A list of settings with coordinates: numbers, or values by name."""

    candidates: Annotated[
        list[Vector] | list[Named],
        Field(
            description=f"1 to {limits.CANDIDATES:,}, asked for by their number, from 0",
            json_schema_extra={"minItems": 1, "maxItems": limits.CANDIDATES},
        ),
    ]
    scale: Annotated[
        dict[str, Literal["linear", "log"]],
        Field(max_length=limits.PARAMETERS, description='by column: {"gain": "log"}, or {"0": "log"}'),
    ] = Field(default_factory=dict)


class ParametersBody(Body):
    """Named parameters."""

    parameters: Annotated[
        dict[
            Annotated[str, Field(min_length=1, max_length=limits.NAME)], RealBody | IntegerBody | ChoiceBody
        ],
        Field(min_length=1, max_length=limits.PARAMETERS),
    ]


AnySpace = BoxBody | ArmsBody | CandidatesBody | ParametersBody


class CreateBody(Body):
    """A new study."""

    model_config = examples(
        {"name": "plant", "space": {"box": [[0, 1], [0, 1]]}},
        {
            "name": "filter",
            "space": {
                "parameters": {
                    "gain": {"real": [0.1, 10], "log": True},
                    "taps": {"integer": [1, 8]},
                    "mode": {"choice": ["fast", "safe"]},
                }
            },
            "algorithm": "et-gp-ucb",
            "goal": "minimize",
            "options": {"delta": 0.05},
        },
        {
            "name": "oven",
            "space": {"parameters": {"power": {"real": [0, 10], "unit": "kW"}}},
            "options": {
                "constraints": {"heat": {"at_most": 90, "unit": "°C"}, "purity": {"at_least": 0.8}},
                "safe": 0.95,
                "start": [{"power": 2}],
            },
        },
    )

    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=limits.NAME,
            description="letters, digits, space and . _ -, beginning with a letter or a digit",
        ),
    ]
    space: AnySpace
    algorithm: Annotated[str, Field(max_length=100, description="see /v1/algorithms")] = "auto"
    goal: Literal["maximize", "minimize", "maximise", "minimise"] = "maximize"
    seed: Annotated[int, Field(ge=0, le=limits.SEED)] | None = None
    expires_after: Annotated[
        Positive | None, Field(description="seconds until a trial expires; null: never")
    ] = DAY
    exist_ok: Annotated[
        bool,
        Field(
            description="answer with the study of that name if it was created with the same arguments, of "
            "which the seed counts if it is given and the metadata never; 409 if with others",
        ),
    ] = False
    metadata: Metadata = Field(default_factory=dict)
    options: Annotated[
        dict[str, Any],
        Field(
            max_length=50,
            description='numbers, pairs, or components such as {"type": "RBF", "lengthscale": [0.2]}; '
            'constraints are {"heat": {"at_most": 90, "unit": "°C"}, "purity": {"at_least": 0.8}}, "safe" is '
            'the probability with which each must hold where a point is asked for, and "start" a list of '
            "settings that are known to be safe",
        ),
    ] = Field(default_factory=dict)


class AskBody(WriteBody):
    """A request for a point; everything may be left out."""

    model_config = examples({}, {"expires_after": 600}, {"context": {"load": 37}})

    time: Annotated[Finite | None, Field(description="the caller's own clock")] = None
    context: Annotated[
        Seen | None, Field(description="what is observed now, if the space has contexts; else leave it out")
    ] = None
    available: Annotated[
        list[Point] | None,
        Field(
            min_length=1,
            max_length=limits.CANDIDATES,
            description="the only points that may be asked for this time, of a finite space",
        ),
    ] = None
    count: Annotated[
        int | None,
        Field(ge=1, le=limits.AT_ONCE, description="this many trials at once; the answer is then a list"),
    ] = None
    expires_after: Annotated[
        Positive | None,
        Field(description="seconds until the trial expires; null: never; left out: as the study says"),
    ] = None


class TellBody(WriteBody):
    """A measurement: of a trial, or of a point `x` that nobody asked for."""

    model_config = examples(
        {"trial": 1, "y": 0.7},
        {"x": [0.2, 0.4], "y": 0.1},
        {"trial": 1, "y": 0.7, "std": 0.05},
        {"trial": 1, "y": [0.7, 0.8, 0.75]},
        {"trial": 1, "y": 0.7, "outcomes": {"heat": 84.2}},
    )

    trial: Serial | None = None
    x: Point | None = None
    y: Annotated[Finite | Repeats, Field(description="the value, or repeats at one point")]
    noise_variance: Annotated[
        Positive | None, Field(description="of the noise of one value, if it is known; or give std")
    ] = None
    std: Annotated[Positive | None, Field(description="its root")] = None
    outcomes: Outcomes | None = None
    time: Finite | None = None

    @field_validator("y", mode="before")
    @classmethod
    def _some(cls, y: Any) -> Any:
        if y is None:
            raise ValueError("must be a number. If no value came, record that with fail")
        return y

    @model_validator(mode="after")
    def _one(self) -> TellBody:
        if (self.trial is None) == (self.x is None):
            raise ValueError("give either trial, the number from ask, or x, a point that nobody asked for")
        if self.noise_variance is not None and self.std is not None:
            raise ValueError("give either noise_variance or std")
        return self


class FailBody(ReasonBody):
    """A trial that could not be evaluated."""

    model_config = examples({"trial": 1, "reason": "the pump was off"})

    trial: Serial


class PredictBody(Body):
    """Points to predict the objective, or a constraint, at."""

    model_config = examples(
        {"points": [[0.2, 0.4], [0.5, 0.5]]}, {"points": [{"power": 3.5}], "of": "heat", "feasibility": True}
    )

    points: Annotated[list[Point], Field(min_length=1, max_length=limits.POINTS)]
    time: Finite | None = None
    of: Annotated[
        str | None,
        Field(min_length=1, max_length=limits.NAME, description="a constraint; null: the objective"),
    ] = None
    feasibility: Annotated[
        bool, Field(description="also how probably the constraints hold at the points")
    ] = False


class ResetBody(ReasonBody):
    """Something is known to have changed."""

    model_config = examples({"reason": "new pump"})


class RetractBody(ReasonBody):
    """A value to take back: of a trial, or of a record if nobody had asked for it."""

    model_config = examples({"trial": 1, "reason": "sensor was cold"})

    trial: Serial | None = None
    record: Annotated[Serial | None, Field(description="its number, seq, in the journal")] = None

    @model_validator(mode="after")
    def _one(self) -> RetractBody:
        if (self.trial is None) == (self.record is None):
            raise ValueError("give either trial, the number from ask, or record, the number in the journal")
        return self


class CorrectBody(RetractBody):
    """The right value of a trial, or of a record if nobody had asked for it."""

    model_config = examples({"trial": 1, "y": 0.39}, {"trial": 1, "outcomes": {"heat": 84.2}})

    y: Annotated[
        Finite | Repeats | None,
        Field(description="a number, or a list of repeats that it is the mean of; null: it was right"),
    ] = None
    outcomes: Annotated[
        Outcomes | None,
        Field(description="the right values of constraints; null: that one was not measured after all"),
    ] = None
    noise_variance: Annotated[Positive | None, Field(description="of y, or of each repeat")] = None
    std: Annotated[Positive | None, Field(description="the root of that, instead")] = None


class SpaceBody(ReasonBody):
    """Another space of the same parameters."""

    model_config = examples({"space": {"box": [[0, 2], [0, 1]]}})

    space: AnySpace
