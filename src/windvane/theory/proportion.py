"""How well a share is known from counts."""

from __future__ import annotations

import math

from windvane.late import special


def wilson(count: int, total: int, confidence: float) -> tuple[float, float]:
    """Wilson's interval of a probability after `count` of `total` trials.

    >>> low, high = wilson(3, 4, 0.95)
    >>> round(low, 2), round(high, 2)
    (0.3, 0.95)
    """
    z = float(special.ndtri(0.5 + 0.5 * confidence))
    share, slack = count / total, z * z / total
    middle = share + 0.5 * slack
    half = z * math.sqrt(share * (1.0 - share) / total + 0.25 * slack / total)
    low, high = (middle - half) / (1.0 + slack), (middle + half) / (1.0 + slack)
    return max(0.0, min(low, share)), min(1.0, max(high, share))  # rounding never excludes the share itself
