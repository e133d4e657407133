"""Components to JSON and back; what cannot come back is refused when it is registered."""

import dataclasses

import pytest

from windvane.codec import component, decode, encode
from windvane.errors import CorruptState, InvalidArgument, InvalidType


def test_a_field_named_type_would_hide_the_name_of_the_class():
    @dataclasses.dataclass(frozen=True)
    class Sensor:
        type: str

    with pytest.raises(InvalidArgument, match=r"component\(Sensor\): .*'type'.*another name"):
        component(Sensor)
    with pytest.raises(InvalidType, match="Sensor cannot be saved"):
        encode(Sensor("pt100"))


def test_the_other_words_of_the_format_may_be_fields():
    @component
    @dataclasses.dataclass(frozen=True)
    class Words:
        array: int
        dict: tuple[int, ...]
        float: float
        type: str = dataclasses.field(default="not written", init=False)

    words = Words(1, (2, 3), 0.5)
    assert encode(words) == {"type": "Words", "array": 1, "dict": [2, 3], "float": 0.5}
    assert decode(encode(words)) == words


@pytest.mark.parametrize(
    "value",
    [
        {"type": "RBF", "lengthscale": [10**400]},
        {"array": [10**400]},
        {"array": {}},
        {"array": [[1], [1, 2]]},
        {"float": "1" * 5000},
        {"float": {}},
        {"dict": []},
        {"type": []},
        {"type": "RBF", "colour": 1},
        {"type": "RBF", 5: 1},
        object(),
    ],
    ids=range(11),
)
def test_whatever_cannot_be_read_is_corrupt(value):
    for nested in (value, [value], {"dict": {"a": value}}):
        with pytest.raises(CorruptState, match="state"):
            print(decode(nested))


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"dict": {"a": inner}}])
def test_nested_too_deeply(wrap):
    value = 1
    for _ in range(100_000):
        value = wrap(value)
    with pytest.raises(CorruptState, match="nested"):
        decode(value)
