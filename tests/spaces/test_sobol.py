"""The fixed Sobol sequence is SciPy's, to the bit."""

import numpy as np
import pytest
from scipy.stats import qmc

from windvane.spaces.sobol import TABLE, sobol


def scipys(dim, count):
    sampler = qmc.Sobol(dim, scramble=True, rng=np.random.default_rng(0))
    return sampler.random_base2((count - 1).bit_length())[:count]


@pytest.mark.parametrize("dim", range(1, len(TABLE) + 3))  # two beyond the table, where SciPy's own is taken
@pytest.mark.parametrize("count", [1, 2, 3, 300, 1024])
def test_equal_to_the_bit(dim, count):
    found = sobol(dim, count)
    assert found.dtype == np.float64
    assert found.shape == (count, dim)
    np.testing.assert_array_equal(found, scipys(dim, count))


def test_a_long_one():
    np.testing.assert_array_equal(sobol(3, 40_000), scipys(3, 40_000))


def test_no_caller_can_change_it_for_another():
    sobol(2, 8)[:] = 0.5
    np.testing.assert_array_equal(sobol(2, 8), scipys(2, 8))
