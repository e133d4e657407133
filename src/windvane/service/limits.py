"""How much is too much: sizes that every request is held to, and rates.

What a study refuses by itself is as large here as there; the rest is the service's own.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from windvane.checks import LONGEST
from windvane.optimizer import MOST_AT_ONCE
from windvane.protocol.checks import LARGEST, LAST, LONGEST_KEY
from windvane.spaces.base import LONGEST_UNIT
from windvane.spelling import LONGEST_NAME, MOST_ARMS, MOST_CANDIDATES, MOST_OPTIONS, MOST_PARAMETERS

CONTEXT = 4000  # characters of a context in an address
UNIT = LONGEST_UNIT  # characters
NAME = LONGEST_NAME  # characters of a study's or a parameter's name
KEY = LONGEST_KEY  # characters of an Idempotency-Key
REASON = LONGEST  # characters
METADATA = LARGEST  # bytes
PARAMETERS = MOST_PARAMETERS
OPTIONS = MOST_OPTIONS  # of a choice
ARMS = MOST_ARMS
CANDIDATES = MOST_CANDIDATES
REPEATS = 1000  # values told at once
POINTS = 10_000  # of one prediction
RESOLUTION = 100  # points on an axis of a surface, so that two axes stay within POINTS
PAGE = 1000  # events of one answer
COURSE = 2000  # of the course of a study
TRACK = 300  # tells that are followed again to see what was believed
TRACKS = 64  # of them that are kept
AT_ONCE = MOST_AT_ONCE  # trials that one ask begins
SERIAL = LAST  # numbers of trials and records, as the database holds them
SEED = 2**63 - 1
CALLERS = 10_000  # whose rates are remembered


class Buckets:
    """One token bucket per caller: `rate` requests per second on average, `burst` at once.

    >>> now = 0.0
    >>> buckets = Buckets(rate=1.0, burst=2.0, clock=lambda: now)
    >>> [buckets.wait("ada") for _ in range(3)]
    [0.0, 0.0, 1.0]
    >>> now = 1.5
    >>> buckets.wait("ada"), buckets.wait("ada")
    (0.0, 0.5)
    """

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate = rate
        self._burst = burst
        self._clock = clock
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()  # caller -> (level, when)
        self._lock = threading.Lock()

    def wait(self, caller: str) -> float:
        """0 if the caller may go ahead, which is then counted, else the seconds until it may."""
        now = self._clock()
        with self._lock:
            level, when = self._levels.get(caller, (self._burst, now))
            level = min(self._burst, level + (now - when) * self._rate)
            allowed = level >= 1.0
            self._levels[caller] = (level - 1.0 if allowed else level, now)
            self._levels.move_to_end(caller)
            if len(self._levels) > CALLERS:
                self._levels.popitem(last=False)
        return 0.0 if allowed else (1.0 - level) / self._rate
