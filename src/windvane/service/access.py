"""Who may come in, decided before a request's body is read.

Without tokens the service is open to this machine alone, and to nothing that a foreign page can make a
browser on this machine do: the Host must be a loopback name (else a foreign name that resolves to
127.0.0.1 would get in), and what writes must come from the service's own page or from no page at all.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from windvane.errors import InvalidArgument
from windvane.service.config import Config, is_loopback
from windvane.service.limits import Buckets
from windvane.service.problems import Refused, retry_after
from windvane.storage import SCOPES, Database, Token

PUBLIC = ("/health", "/", "/favicon.ico")  # and the page's files, which hold nothing of anybody's
PUBLIC_FOLDERS = ("/static/", "/studies/")
REMEMBERED = 1000
FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
Call = Callable[..., Awaitable[object]]


@dataclass(frozen=True)
class Identity:
    """Who is asking."""

    scopes: tuple[str, ...]
    authentication: bool  # whether tokens are in use
    token: int | None = None


ANYBODY = Identity((), authentication=True)
THIS_MACHINE = Identity(SCOPES, authentication=False)


def refuse_open_doors(config: Config, database: Database) -> None:
    """`InvalidArgument` if anybody could reach the service and nobody would be asked who they are."""
    if not config.open_to_loopback and not database.tokens.list():
        raise InvalidArgument(
            f"host={config.host!r}: others than this machine could reach it, so it needs a token first: "
            f"windvane token add LABEL --db {database.url}"
        )


class Known:
    """Tokens that were good a moment ago, by their digest, so that not every request asks the database."""

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._found: OrderedDict[bytes, tuple[float, Token]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, secret: str) -> Token | None:
        """The token, if it was found good within the last seconds."""
        with self._lock:
            until, token = self._found.get(_digest(secret), (0.0, None))
        return token if self._clock() < until else None

    def put(self, secret: str, token: Token) -> None:
        """Remember a token that was found good."""
        with self._lock:
            self._found[_digest(secret)] = (self._clock() + self._seconds, token)
            while len(self._found) > REMEMBERED:
                self._found.popitem(last=False)


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


class Door:
    """Decides about requests: whether the caller is known, and whether it asks too often."""

    def __init__(self, config: Config, database: Database, call: Call) -> None:
        self._config = config
        self._database = database
        self._call = call  # runs what waits for the database in a thread
        self._buckets = Buckets(config.rate, config.burst)
        self._known = Known(config.remember)
        self._locked = not config.open_to_loopback or bool(database.tokens.list())
        self._looked = float("-inf")

    async def enter(self, method: str, path: str, headers: Mapping[str, str], client: str | None) -> Identity:
        """Who is asking; `Refused` if they may not come in."""
        secret = _bearer(headers.get("authorization"))
        token = None if secret is None else self._known.get(secret)
        self._limit(f"token {token.id}" if token else f"address {client}")
        if path in PUBLIC or path.startswith(PUBLIC_FOLDERS):
            return ANYBODY
        if token is None and secret is not None:
            token = await self._check(secret)
        if token is not None:
            return Identity(token.scopes, authentication=True, token=token.id)
        if secret is not None:
            raise _unauthorised("the token is not valid; it may have been revoked")
        if await self._needs_tokens():
            raise _unauthorised("a token is needed: Authorization: Bearer wv_...")
        self._from_this_machine(method, headers, client)
        return THIS_MACHINE

    def _limit(self, caller: str) -> None:
        wait = self._buckets.wait(caller)
        if wait > 0.0:
            said = f"more than {self._config.rate:g} requests a second; try again in {wait:.3g} s"
            raise Refused(429, "TooManyRequests", said, retry_after(wait))

    async def _check(self, secret: str) -> Token | None:
        token = await self._call(self._database.tokens.check, secret)
        if not isinstance(token, Token):
            return None
        self._known.put(secret, token)
        self._locked = True
        return token

    async def _needs_tokens(self) -> bool:
        """Whether any are in use. Once seen, they stay needed until the service starts anew."""
        now = time.monotonic()
        if not self._locked and now - self._looked >= self._config.remember:
            self._locked = bool(await self._call(self._database.tokens.list))
            self._looked = now
        return self._locked

    def _from_this_machine(self, method: str, headers: Mapping[str, str], client: str | None) -> None:
        if client is None or not is_loopback(client) or any(name in headers for name in FORWARDED):
            raise _forbidden("without tokens only this machine is served; `windvane token add` makes one")
        host = headers.get("host", "")
        if not is_loopback(_hostname(host)):
            raise _forbidden(f"Host {host[:100]!r}: without tokens it must be localhost or 127.0.0.1")
        if method in ("GET", "HEAD", "OPTIONS"):
            return
        origin = headers.get("origin")
        if origin is not None and origin.lower().partition("://")[2] != host.lower():
            raise _forbidden(f"Origin {origin[:100]!r}: a page of another site may not write here")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise _forbidden("a page of another site may not write here")


def _bearer(header: str | None) -> str | None:
    if header is None:
        return None
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise _unauthorised("Authorization: must be `Bearer`, a space and a token")
    return secret.strip()


@lru_cache(1000)
def _hostname(host: str) -> str:
    if any(
        sign in host for sign in "@/?#\\"
    ):  # not part of a host, and read differently by different readers
        return ""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _forbidden(detail: str) -> Refused:
    return Refused(403, "Forbidden", detail)


def _unauthorised(detail: str) -> Refused:
    return Refused(401, "Unauthorized", detail, {"WWW-Authenticate": "Bearer"})
