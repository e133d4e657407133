"""Who may come in, decided before a request's body is read.

Without tokens the service is open to its own user on this machine alone, and to nothing that a foreign page
can make a browser on this machine do: the Host must be a loopback name (else a foreign name that resolves to
127.0.0.1 would get in), and what writes must come from the service's own page or from no page at all. Behind
a proxy everybody would seem to be on this machine: see docs/decisions/0043-without-tokens.md.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from windvane.errors import InvalidArgument
from windvane.service.config import Config, is_loopback
from windvane.service.limits import Buckets
from windvane.service.owners import is_another_user
from windvane.service.problems import Refused, retry_after
from windvane.service.protocol import CONNECTION
from windvane.storage import SCOPES, Database, Token
from windvane.storage.tokens import digest

PUBLIC = ("/health", "/ready", "/", "/favicon.ico")  # and the page's files, which hold nothing of anybody's
PUBLIC_FOLDERS = ("/static/", "/studies/")
REMEMBERED = 1000
FORWARDED = ("forwarded", "via", "x-real-ip", "x-client-ip", "x-original-host", "true-client-ip", "cf-ray")
FORWARDED_PREFIX = "x-forwarded-"
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
        self._found: OrderedDict[str, tuple[float, Token]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, secret: str) -> Token | None:
        """The token, if it was found good within the last seconds."""
        with self._lock:
            until, token = self._found.get(digest(secret), (0.0, None))
        return token if self._clock() < until else None

    def whose(self, secret: str) -> int | None:
        """The number of a token that was found good at some time, to count its requests by."""
        with self._lock:
            found = self._found.get(digest(secret))
        return None if found is None else found[1].id

    def put(self, secret: str, token: Token) -> None:
        """Remember a token that was found good."""
        with self._lock:
            self._found[digest(secret)] = (self._clock() + self._seconds, token)
            while len(self._found) > REMEMBERED:
                self._found.popitem(last=False)


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

    async def enter(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> Identity:
        """Who is asking; `Refused` if they may not come in."""
        secret, path = _bearer(headers.get("authorization")), scope["path"]
        known = None if secret is None else self._known.whose(secret)
        self._limit(f"address {self._address(scope, headers)}" if known is None else f"token {known}")
        if path in PUBLIC or path.startswith(PUBLIC_FOLDERS):
            return ANYBODY
        token = None if secret is None else self._known.get(secret)
        if token is None and secret is not None:
            token = await self._check(secret)
        if token is not None:
            return Identity(token.scopes, authentication=True, token=token.id)
        if secret is not None:
            raise _unauthorised("the token is not valid; it may have been revoked")
        if await self._needs_tokens():
            raise _unauthorised("a token is needed: Authorization: Bearer wv_...")
        self._from_this_machine(scope, headers)
        return THIS_MACHINE

    def _address(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> str | None:
        """Where a request comes from: what a proxy says is believed only if there is said to be one."""
        client = scope.get("client")
        forwarded = headers.get("x-forwarded-for", "") if self._config.behind_proxy else ""
        last = forwarded.rpartition(",")[2].strip()  # what came before it, anybody may have written
        return last[:100] or (client[0] if client else None)

    def _limit(self, caller: str) -> None:
        wait = self._buckets.wait(caller)
        if wait > 0.0:
            said = f"more than {self._config.rate:g} requests per second; try again in {wait:.3g} s"
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

    def _from_this_machine(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        method, client = scope["method"], scope.get("client")
        if client is None or not is_loopback(client[0]) or self._config.behind_proxy or _forwarded(headers):
            raise _forbidden("without tokens only this machine is served; `windvane token add` makes one")
        if scope["http_version"] == "1.0":  # as a plain proxy_pass of nginx asks
            raise _forbidden(
                "without tokens HTTP/1.0 is not served: proxies speak it. `windvane token add` makes one"
            )
        if _is_another_user(scope):
            raise _forbidden(
                "without tokens only the user who runs the service is served, and no proxy of another user; "
                "`windvane token add` makes one"
            )
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


def _forwarded(headers: Mapping[str, str]) -> bool:
    """Whether a proxy says that it is one."""
    return any(name in FORWARDED or name.startswith(FORWARDED_PREFIX) for name in map(str.lower, headers))


def _is_another_user(scope: Mapping[str, Any]) -> bool:
    """Whether another user of this machine asks; looked up once for each connection."""
    notes: dict[str, Any] = scope.get("extensions", {}).get(CONNECTION, {})
    if "another" not in notes:
        client, server = scope["client"], scope.get("server")
        notes["another"] = server is not None and is_another_user(tuple(client), tuple(server))
    return bool(notes["another"])


def _bearer(header: str | None) -> str | None:
    if header is None:
        return None
    scheme, _, secret = header.partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise _unauthorised("Authorization: must be `Bearer`, a space and a token")
    return secret.strip()


@lru_cache(1000)
def _hostname(host: str) -> str:
    if set(host) & set("@/?#\\"):  # not part of a host, and read differently by different readers
        return ""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _forbidden(detail: str) -> Refused:
    return Refused(403, "Forbidden", detail)


def _unauthorised(detail: str) -> Refused:
    return Refused(401, "Unauthorized", detail, {"WWW-Authenticate": "Bearer"})
