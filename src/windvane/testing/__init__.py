"""Test suites for what other people write: a trigger, or something that speaks like a study.

They need pytest, and the state machine hypothesis: `pip install 'windvane[testing]'`. Subclass a suite in a
file of tests and pytest runs all of it:

    from windvane.testing import StudySuite, TriggerSuite

    class TestCusum(TriggerSuite):
        triggers = (Cusum(), Cusum(threshold=9.0))
"""

from windvane.extras import require

require("pytest", "testing").register_assert_rewrite("windvane.testing.studies", "windvane.testing.machine")

from windvane.testing.studies import StudySuite  # noqa: E402
from windvane.testing.triggers import TriggerSuite  # noqa: E402

__all__ = ["StudySuite", "TriggerSuite"]
