"""What is wrong with a request is said as Python says it: the field, the value, and what is allowed."""

import pydantic
import pytest

from windvane.service.bodies import AskBody, CreateBody, PredictBody, TellBody
from windvane.service.problems import readable

CREATE = {"name": "press", "space": {"box": [[0, 1]]}}


@pytest.mark.parametrize(
    ("body", "given", "said"),
    [
        (CreateBody, {"space": CREATE["space"]}, "name: is missing"),
        (CreateBody, {**CREATE, "nmae": 1}, "nmae: is not known here; leave it out"),
        (CreateBody, {**CREATE, "seed": 1.5}, "seed=1.5: must be a whole number"),
        (CreateBody, {**CREATE, "seed": -1}, "seed=-1: must be at least 0"),
        (CreateBody, {**CREATE, "algorithm": 7}, "algorithm=7: must be text"),
        (CreateBody, {**CREATE, "algorithm": "a" * 101}, "must be at most 100 characters"),
        (AskBody, {"count": "many"}, 'count="many": must be a whole number'),
        (AskBody, {"count": 0}, "count=0: must be at least 1"),
        (TellBody, {"trial": 1, "y": "high"}, 'y="high": must be a number'),
        (TellBody, {"trial": 1, "y": None}, "y: must be a number. If no value came, record that with fail"),
        (TellBody, {"trial": "a" * 200, "y": 1.0}, "must be a whole number"),
        (PredictBody, {"points": 3}, "points=3: must be a list"),
        (PredictBody, [1], "must be an object with names and values"),
    ],
)
def test_a_sentence(body, given, said):
    with pytest.raises(pydantic.ValidationError) as raised:
        pydantic.TypeAdapter(body).validate_python(given)
    told = readable([{**each, "loc": ("body", *each["loc"])} for each in raised.value.errors()])
    assert said in told
    assert "Input should" not in told
    assert len(told) < 200
