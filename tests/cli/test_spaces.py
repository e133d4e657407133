"""Spaces as they are spelt in a shell, against the ones that are written in Python."""

import argparse
import shlex

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windvane as wv
from windvane.cli.spaces import add_space_arguments, space_from
from windvane.errors import WindvaneError


def parsed(line):
    parser = argparse.ArgumentParser()
    add_space_arguments(parser)
    return space_from(parser.parse_args(shlex.split(line)))


@pytest.mark.parametrize(
    ("line", "space"),
    [
        ("", None),
        ("--box 0,1", wv.Box([(0, 1)])),
        ("--box 0,1 -1e-3,2", None),  # argparse takes it for an option
        ("--box 0,1 2.5,1e3", wv.Box([(0, 1), (2.5, 1000)])),
        ("--box 0,1 --box 2,3", wv.Box([(0, 1), (2, 3)])),
        ("--box=-5,5 --box=-1,0", wv.Box([(-5, 5), (-1, 0)])),
        ("--box '-5,5 -1,0'", wv.Box([(-5, 5), (-1, 0)])),
        ("--arms 46", wv.Arms(46)),
        ("--param gain=real:0.1:10:log", wv.Space(gain=wv.Real(0.1, 10, log=True))),
        ("--param gain=real:-3:3", wv.Space(gain=wv.Real(-3, 3))),
        (
            "--param taps=integer:1:8 --param 'mode=choice:a,b'",
            wv.Space(taps=wv.Integer(1, 8), mode=wv.Choice(["a", "b"])),
        ),
        ("--param n=integer:1:1024:log", wv.Space(n=wv.Integer(1, 1024, log=True))),
        ("--param 'c=choice:8,0.5,true,x y'", wv.Space(c=wv.Choice([8, 0.5, True, "x y"]))),
        ("""--param "c=choice:'8','true'" """, wv.Space(c=wv.Choice(["8", "true"]))),
        ("--param heat=real:60:99:unit=°C", wv.Space(heat=wv.Real(60, 99, unit="°C"))),
        ("--param n=integer:1:9:log:unit=m/s", wv.Space(n=wv.Integer(1, 9, log=True, unit="m/s"))),
        ("--param 'q=real:0:9:unit=a=b %:step=0.5'", wv.Space(q=wv.Real(0, 9, unit="a=b %", step=0.5))),
        ("--param 'knob 1=real:0:1'", wv.Space({"knob 1": wv.Real(0, 1)})),
    ],
)
def test_spellings(line, space, capsys):
    if space is None and line:
        with pytest.raises(SystemExit):
            parsed(line)
        assert "--box" in capsys.readouterr().err
        return
    found = parsed(line)
    assert found == space
    assert repr(found) == repr(space)  # 8 is not 8.0, nor True 1


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--box 0,1 --arms 3", "--box with --arms: give one of"),
        ("--arms 3 --param a=real:0:1", "--arms with --param: give one of"),
        ("--box 0,1,2", "--box 0,1,2: must be two numbers LO,HI"),
        ("--box log.csv", "--box log.csv: must be two numbers LO,HI"),
        ("--box ' '", "--box: names no bounds"),
        ("--box 0,one", "--box 0,one: 'one' is no number"),
        ("--box 0,1 2,1", "--box 0,1 2,1: bounds[1]: lo=2.0 must be below hi=1.0"),
        ("--box 0,nan", "--box 0,nan: bounds[0]"),
        ("--arms 0", "--arms: n=0: must be an integer at least 1"),
        ("--param gain", "--param gain: must be NAME=real:LO:HI[:log]"),
        ("--param =real:0:1", "--param =real:0:1: must be NAME="),
        ("--param gain=real:0", "--param gain=real:0: must be NAME="),
        ("--param gain=real:0:1:lin", "--param gain=real:0:1:lin: must be NAME="),
        ("--param gain=real:0:1:unit=V:unit=A", "unit=A: must be NAME="),
        ("--param taps=integer:1:8:step=2", "step=2: must be NAME="),
        ("--param gain=real:0:1:unit=" + 41 * "k", "unit"),
        (
            "--param gain=real:0:1:V",
            "--param gain=real:0:1:V: must be NAME=real:LO:HI[:log][:step=S][:unit=U]",
        ),
        ("--param gain=reel:0:1", "--param gain=reel:0:1: must be NAME="),
        ("--param gain=real:a:1", "--param gain=real:a:1: 'a' is no number"),
        ("--param gain=real:2:1", "--param gain=real:2:1: Real: lo=2.0 must be below hi=1.0"),
        ("--param gain=real:0:1:log", "lo must be above 0 on a log scale"),
        ("--param taps=integer:1.5:8", "'1.5' is no whole number"),
        ("--param mode=choice:", "an option is empty"),
        ("--param mode=choice:a,,b", "an option is empty"),
        ("--param mode=choice:a,a", "--param mode=choice:a,a: options[1]='a': equals options[0]"),
        ("--param a=real:0:1 --param a=real:0:2", "--param: Space(a, a): parameter names must differ"),
    ],
)
def test_what_is_wrong_is_named(line, said):
    with pytest.raises(WindvaneError) as caught:
        parsed(line)
    assert said in str(caught.value)


@given(st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6)), min_size=1, max_size=4))
def test_any_box_can_be_spelt(pairs):
    bounds = [(low, low + width) for low, width in pairs]
    spelt = " ".join(f"--box={low!r},{high!r}" for low, high in bounds)
    np.testing.assert_array_equal(parsed(spelt).bounds, bounds)


def test_contexts():
    line = (
        "--param speed=real:0:1 --context load=real:0:100:unit=% --context hour=real:0:24:period "
        "--context flow=real:0.1:9:log:clip --context month=integer:1:12:period --context crew=choice:a,b"
    )
    assert parsed(line) == wv.Space(
        speed=wv.Real(0, 1),
        load=wv.Context(0, 100, unit="%"),
        hour=wv.Context(0, 24, period=True),
        flow=wv.Context(0.1, 9, log=True, clip=True),
        month=wv.Context(wv.Integer(1, 12), period=True),
        crew=wv.Context(wv.Choice(["a", "b"])),
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--context load=real:0:1", "needs --param"),
        ("--box 0,1 --context load=real:0:1", "--context with --box"),
        ("--param a=real:0:1 --context load", "--context load: must be"),
        ("--param a=real:0:1 --context load=real:0:1:loud", "must be NAME=real"),
        ("--param a=real:0:1 --context load=real:0", "must be NAME=real"),
        ("--param a=real:0:1 --context load=real:0:1:clip:clip", "must be NAME=real"),
        ("--param a=real:0:1:period", "--param a=real:0:1:period: must be"),
        ("--param a=real:0:1 --context load=real:0:1:period:clip", "--context load=.*no ends"),
        ("--param a=real:0:1 --context a=real:0:1", "must differ"),
    ],
)
def test_bad_contexts(line, says):
    with pytest.raises(WindvaneError, match=says):
        parsed(line)
