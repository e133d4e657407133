"""Wilson's interval against SciPy's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from windvane.theory.proportion import wilson


@given(st.data(), st.integers(1, 5000), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_equals_scipys(data, total, confidence):
    count = data.draw(st.integers(0, total))
    expected = binomtest(count, total).proportion_ci(confidence, method="wilson")
    low, high = wilson(count, total, confidence)
    assert low == pytest.approx(float(expected.low), abs=1e-12)
    assert high == pytest.approx(float(expected.high), abs=1e-12)
    assert 0.0 <= low <= count / total <= high <= 1.0
