"""Names with options as people type them."""

import pytest

import windvane as wv
from windvane.entries import Entry, parse


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a", "b"], [Entry("a"), Entry("b")]),
        (["a,b", "c"], [Entry("a"), Entry("b"), Entry("c")]),
        (["a,"], [Entry("a")]),
        (["a", "a"], [Entry("a")]),
        (["a:x=1,y=0.5,b"], [Entry("a", (("x", 1), ("y", 0.5))), Entry("b")]),
        (["a:x=1", "a:x=2"], [Entry("a", (("x", 1),)), Entry("a", (("x", 2),))]),
        (["e[0.01,0.05]"], [Entry("e[0.01,0.05]")]),
        (["e:w=[1,2],z=(3, 4)"], [Entry("e", (("w", (1, 2)), ("z", (3, 4))))]),
        (["mod.sub:make"], [Entry("mod.sub:make")]),
        (["mod:make:gain=2,other=x"], [Entry("mod:make", (("gain", 2), ("other", "x")))]),
        (
            ["t:days=7-8,synthetic=true,v=False"],
            [Entry("t", (("days", "7-8"), ("synthetic", True), ("v", False)))],
        ),
        (["t:file=a:b.csv"], [Entry("t", (("file", "a:b.csv"),))]),
        (["t:x='1'"], [Entry("t", (("x", "1"),))]),
        (["t:x={1:2}"], [Entry("t", (("x", "{1:2}"),))]),
    ],
)
def test_what_is_understood(texts, expected):
    assert parse("--tasks", texts) == expected


@pytest.mark.parametrize(
    "text", ["", ",", "x=1", "a:", ":a", "a:x=", "a:=1", "a:x=1,x=2", "a:1x=3", "a,,b", "a:x y=1", "=", ":=1"]
)
def test_what_is_not(text):
    with pytest.raises(wv.InvalidArgument, match="--tasks") as caught:
        parse("--tasks", [text])
    assert "NAME:option=value" in str(caught.value)


def test_an_option_belongs_to_a_name_of_the_same_word():
    with pytest.raises(wv.InvalidArgument, match="before any name"):
        parse("--tasks", ["a", "x=1"])


def test_labels_parse_again():
    for text in ("a", "a:x=1,y=0.5", "e[0.01,0.05]", "mod:make:gain=[1,2]"):
        assert parse("--tasks", parse("--tasks", [text])[0].label.split("  ")) == parse("--tasks", [text])
