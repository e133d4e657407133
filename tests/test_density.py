"""Log densities against SciPy's, and at the ends of what a float can hold."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from windvane.density import normal_log_densities, normal_log_density

positive = st.floats(1e-6, 1e3)


@settings(max_examples=40)
@given(st.floats(-1e3, 1e3), positive)
def test_the_log_density_is_that_of_scipy(residual, variance):
    expected = stats.norm.logpdf(residual, scale=math.sqrt(variance))
    assert normal_log_density(residual, variance) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    many = normal_log_densities(np.array([residual]), np.array([variance]))
    assert many[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.floats(-1e101, 1e101), st.floats(0.0, 1e200))
def test_it_is_always_finite(residual, variance):
    assert math.isfinite(normal_log_density(residual, variance))
