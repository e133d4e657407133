"""What a service is told when it starts."""

from __future__ import annotations

import dataclasses
import ipaddress
import json
from dataclasses import dataclass
from functools import lru_cache

from windvane.checks import integer, real
from windvane.errors import InvalidArgument

LOOPBACK_NAMES = ("localhost", "ip6-localhost")


@lru_cache(1000)
def is_loopback(host: str) -> bool:
    """Whether a name or an address is this machine and nothing else.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    if host.lower() in LOOPBACK_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Config:
    """Where the studies are, where to listen, and how much anybody may ask for.

    `rate` and `burst` limit requests of one token, or of one address without a token. `poll` is how often
    the streams look for what other processes wrote; `remember` how long a token that was found good is
    taken to be good, so a revoked one works for that long at most.

    >>> Config(port=8080).open_to_loopback
    True
    >>> Config(rate=0)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: rate=0: must be a finite number above 0
    """

    database: str = "windvane.db"
    host: str = "127.0.0.1"
    port: int = 8000
    rate: float = 2000.0  # requests per second
    burst: float = 4000.0
    body_limit: int = 1_000_000  # bytes
    streams: int = 100  # live at once, in one process
    open_studies: int = 256  # kept in memory
    threads: int = 8  # that wait for the database
    readers: int = 2  # threads that look at the model
    writers: int = 32  # threads for steps, of which one works at a time unless it takes long
    requests: int = 500  # answered at once, in one process
    closing: float = 0.5  # seconds that what is being written, and what is being sent, have at the end
    poll: float = 0.25  # seconds
    heartbeat: float = 15.0
    remember: float = 2.0
    webhooks: bool = True  # whether this process delivers them
    workers: int = 1  # processes that share the socket
    folder: str = ""  # where they meet
    behind_proxy: bool = False  # whether what X-Forwarded-For says last is true

    def __post_init__(self) -> None:
        if not self.database:
            raise InvalidArgument("database='': must be a file's path or a URL")
        integer("port", self.port, at_least=0, at_most=65535)
        for name in ("rate", "poll", "heartbeat"):
            real(name, getattr(self, name), above=0.0)
        real("burst", self.burst, at_least=1.0)
        for name in ("remember", "closing"):
            real(name, getattr(self, name), at_least=0.0)
        sizes = ("body_limit", "streams", "open_studies", "requests")
        for name in (*sizes, "threads", "readers", "writers", "workers"):
            integer(name, getattr(self, name), at_least=1)

    @property
    def open_to_loopback(self) -> bool:
        """Whether it is reachable from this machine only, so that it may do without tokens."""
        return is_loopback(self.host)

    def dumps(self) -> str:
        """As JSON, for the processes that `--workers` starts."""
        return json.dumps(dataclasses.asdict(self))

    @staticmethod
    def loads(text: str) -> Config:
        """The inverse of `dumps`.

        >>> Config.loads(Config(port=1).dumps()) == Config(port=1)
        True
        """
        return Config(**json.loads(text))
