"""Bad arguments are refused at the door, with a message that names them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from windvane.errors import InvalidArgument, InvalidType
from windvane.triggers import (
    BoundedNoise,
    Confirmed,
    EDetector,
    ExactBound,
    Likelihood,
    Never,
    NoImprovement,
    Periodic,
    PosteriorBound,
    ResetWindow,
)

VALUE, KIND = InvalidArgument, InvalidType


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: Periodic(0), VALUE, "period=0: must be an integer at least 1"),
        (lambda: Periodic(2.0), KIND, "period=2.0: must be an integer at least 1"),
        (lambda: Periodic(True), KIND, "period=True"),
        (lambda: PosteriorBound(0.0), VALUE, "delta=0.0: must be a finite number above 0 and below 1"),
        (lambda: PosteriorBound(1.0), VALUE, "delta=1.0"),
        (lambda: PosteriorBound(math.nan), VALUE, "delta=nan"),
        (lambda: PosteriorBound("0.1"), KIND, "delta='0.1'"),
        (lambda: PosteriorBound(noise_cap=-0.1), VALUE, "noise_cap=-0.1: must be a finite number at least 0"),
        (lambda: PosteriorBound(noise_cap=math.inf), VALUE, "noise_cap=inf"),
        (lambda: PosteriorBound(noise_cap=[1.0]), KIND, "noise_cap=[1.0]"),
        (lambda: BoundedNoise(-1.0), VALUE, "noise_bound=-1.0: must be a finite number at least 0"),
        (lambda: BoundedNoise(None), KIND, "noise_bound=None"),
        (lambda: BoundedNoise(0.1, delta=2), VALUE, "delta=2"),
        (lambda: NoImprovement(0), VALUE, "patience=0: must be an integer at least 1"),
        (lambda: NoImprovement(1.5), KIND, "patience=1.5"),
        (
            lambda: NoImprovement(2, tolerance=-1e-3),
            VALUE,
            "tolerance=-0.001: must be a finite number at least 0",
        ),
        (lambda: NoImprovement(2, tolerance=math.nan), VALUE, "tolerance=nan"),
        (lambda: Likelihood(-0.1), VALUE, "delta=-0.1"),
        (lambda: Likelihood(None), KIND, "delta=None"),
        (lambda: ExactBound(1.0), VALUE, "delta=1.0: must be a finite number above 0 and below 1"),
        (lambda: ExactBound("often"), KIND, "delta='often'"),
        (lambda: EDetector(0.0), VALUE, "delta=0.0"),
        (lambda: EDetector(run_length=1.0), VALUE, "run_length=1.0: must be a finite number above 1"),
        (lambda: EDetector(run_length="long"), KIND, "run_length='long'"),
        (lambda: EDetector(0.1, 1000.0), VALUE, "delta=0.1 with run_length=1000.0: give one of the two"),
        (lambda: EDetector(spreads=(2.0, 1.0)), VALUE, "spreads=1.0: must be a finite number above 1"),
        (lambda: EDetector(spreads=2.0), KIND, "spreads=2.0: must be a sequence of numbers"),
        (lambda: EDetector(shifts=(0.0,)), VALUE, "shifts=0.0: must be a finite number above 0"),
        (lambda: EDetector(shifts=["x"]), KIND, "shifts='x'"),
        (lambda: EDetector(spreads=(), shifts=[]), VALUE, "there must be at least one alternative"),
        (lambda: Confirmed(5), KIND, "trigger=5: must be an instance such as wv.PosteriorBound(0.1)"),
        (lambda: Confirmed(PosteriorBound), KIND, "trigger=<class"),
        (lambda: Confirmed(Never()), VALUE, "trigger=Never(): has nothing to confirm"),
        (lambda: Confirmed(Periodic(3)), VALUE, "trigger=Periodic(period=3): has nothing to confirm"),
        (lambda: Confirmed(Confirmed(Likelihood())), VALUE, "is confirmed already; give the one within"),
        (
            lambda: Confirmed(Likelihood(), level=0.6),
            VALUE,
            "level=0.6: must be a finite number above 0 and at",
        ),
        (lambda: Confirmed(Likelihood(), level=0.0), VALUE, "level=0.0"),
        (lambda: Confirmed(Likelihood(), cooldown=-1), VALUE, "cooldown=-1: must be an integer at least 0"),
        (lambda: Confirmed(Likelihood(), min_samples=1.5), KIND, "min_samples=1.5"),
        (lambda: ResetWindow(0), VALUE, "reset_window: N_low=0: must be an integer at least 1"),
        (lambda: ResetWindow(1, 0), VALUE, "reset_window: N_high=0: must be an integer at least 1"),
        (lambda: ResetWindow(5, 3), VALUE, "reset_window=(5, 3): N_low must not be above N_high"),
        (lambda: ResetWindow(1, 2.5), KIND, "reset_window: N_high=2.5"),
        (lambda: ResetWindow(None), KIND, "reset_window: N_low=None"),
    ],
)
def test_bad_arguments(build, error, message):
    with pytest.raises(error) as failure:
        build()
    assert message in str(failure.value)


def test_numpy_numbers_become_plain_ones():
    bound = PosteriorBound(np.float32(0.25), noise_cap=np.int64(2))
    assert (type(bound.delta), type(bound.noise_cap)) == (float, float)
    assert bound == PosteriorBound(0.25, 2.0)
    assert type(Periodic(np.int64(3)).period) is int
    assert type(ResetWindow(np.int64(3), np.int64(4)).high) is int
    assert hash(BoundedNoise(np.array(0.5))) == hash(BoundedNoise(0.5))
