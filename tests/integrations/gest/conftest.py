"""Without gest-api these tests are skipped."""

import pytest

pytest.importorskip("gest_api", reason="needs gest-api: pip install 'windvane[gest]'")
