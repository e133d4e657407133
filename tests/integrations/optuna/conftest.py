"""Optuna is quiet in tests; without it, these tests are skipped."""

import pytest

optuna = pytest.importorskip("optuna", reason="needs Optuna: pip install 'windvane[optuna]'")


@pytest.fixture(autouse=True)
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)
