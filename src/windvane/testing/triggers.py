"""What every trigger must do, for pytest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from windvane.triggers import Trigger
from windvane.triggers.conformance import CHECKS


class TriggerSuite:
    """Subclass it, and list your triggers: each passes every check of `windvane.triggers.conformance`.

    A check that fails says which call of the trigger is wrong, and what was expected.
    """

    triggers: ClassVar[Sequence[Trigger]] = ()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if not cls.triggers:
            raise TypeError(f"{cls.__name__}.triggers: must be a list of at least one trigger")

        @pytest.mark.parametrize("name", CHECKS)
        @pytest.mark.parametrize("trigger", cls.triggers, ids=repr)
        def test_conforms(self: TriggerSuite, trigger: Trigger, name: str) -> None:  # noqa: ARG001
            assert isinstance(trigger, Trigger)
            CHECKS[name](trigger)

        cls.test_conforms = test_conforms  # type: ignore[attr-defined]
