"""Import the integration first: it silences the one warning that importing GPyTorch gives."""

import windvane.integrations.botorch  # noqa: F401
