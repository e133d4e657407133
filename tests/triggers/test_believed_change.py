"""A sudden change that the surrogate believes in: when it fires, and since when the data count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import windvane as wv
from windvane.data import Change, Opinion, Prediction
from windvane.triggers import conformance

EXPECTED = Prediction(0.0, 1.0, 0.1)


def verdict(changes, believed=0.9, beliefs=None):
    opinion = Opinion(0.0, changes=tuple(changes), beliefs=beliefs or {})
    return wv.BelievedChange(believed).test((), EXPECTED, 0.0, 5, opinion)[0]


def test_conformance():
    conformance.check(wv.BelievedChange())


@given(st.lists(st.floats(0.0, 1.0), max_size=5), st.floats(0.05, 0.95))
def test_it_fires_exactly_if_all_changes_together_are_believed(weights, believed):
    total = sum(weights)
    changes = [Change(3 * i + 1, weight / max(total, 1.0)) for i, weight in enumerate(weights)]
    found = verdict(changes, believed)
    assert found.fired == (sum(change.probability for change in changes) > believed)
    assert found.threshold == believed
    if not found.fired:
        assert found.since is None
        return
    later = sum(change.probability for change in changes if change.step >= found.since)
    after = sum(change.probability for change in changes if change.step > found.since)
    assert later > believed - 1e-12
    assert after <= believed + 1e-12  # the latest for which that holds


@pytest.mark.parametrize("shares", [(0.55, 0.4), (0.4, 0.55)])
def test_two_moments_that_share_the_blame_are_enough(shares):
    """Neither change alone is believed, but one of the two: what was before both is stale."""
    found = verdict([Change(4, 0.01), Change(9, shares[0]), Change(10, shares[1])])
    assert found.fired
    assert found.since == 9
    assert "at step 9 or later" in found.reason


def test_the_reason_names_the_level_and_the_rivals():
    changes = [Change(12, 0.95, level=-8.1234)]
    found = verdict(changes, beliefs={"changed at step 12": 0.95, "static": 0.04, "x": 0.01})
    assert found.reason == (
        "a sudden change at step 12, to a level 8.12 away, is believed with probability 0.95, "
        "against 0.04 for the next best explanation (static)"
    )


def test_without_an_opinion_it_is_silent():
    found, memory = wv.BelievedChange().test((), EXPECTED, 1e9, 5)
    assert not found.fired
    assert memory == ()


def test_a_surrogate_that_weighs_no_changes_is_refused():
    with pytest.raises(wv.InvalidArgument, match="weighs sudden changes"):
        wv.make("et-gp-ucb", wv.Box([(0, 1)]), trigger=wv.BelievedChange())


def test_it_needs_no_second_look():
    with pytest.raises(wv.InvalidArgument, match="by itself"):
        wv.Confirmed(wv.BelievedChange())


@pytest.mark.parametrize("believed", [0.0, 1.0, -1.0, "x", None])
def test_what_is_no_probability(believed):
    with pytest.raises(wv.WindvaneError, match="believed"):
        wv.BelievedChange(believed)
