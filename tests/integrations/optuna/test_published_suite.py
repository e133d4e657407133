"""Optuna's own tests of a sampler, as published in `optuna.testing.pytest_samplers`."""

import pytest

published = pytest.importorskip(
    "optuna.testing.pytest_samplers", reason="this version of Optuna does not publish its tests of samplers"
)

from windvane.integrations.optuna import WindvaneSampler  # noqa: E402

# Optuna finds a range that its step does not divide worth a warning; its own test has one
pytestmark = pytest.mark.filterwarnings("ignore:The distribution is specified by:UserWarning")


def _within(trial):
    return (-1.0, -0.1 * (trial.number % 3))


class TestWindvaneSampler(
    published.BasicSamplerTestCase, published.RelativeSamplerTestCase, published.SingleOnlySamplerTestCase
):
    """All classes but the one for several objectives, which Windvane refuses."""

    @pytest.fixture(params=["free", "constrained"])
    def sampler(self, request):
        constraints = {"constraints_func": _within} if request.param == "constrained" else {}
        return lambda: WindvaneSampler(seed=0, **constraints)


def test_nothing_of_the_suite_is_left_out():
    taken = {base.__name__ for base in TestWindvaneSampler.__mro__}
    there = {name for name in vars(published) if name.endswith("SamplerTestCase") and name[0] != "_"}
    assert there - taken == {"MultiObjectiveSamplerTestCase"}
