"""Where a service is."""

from __future__ import annotations

import http.client
import ssl
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from windvane.errors import InvalidArgument


@dataclass(frozen=True)
class Address:
    """A host, a port, and the path under which a proxy may have put the service.

    >>> Address.of("http://127.0.0.1:8000/")
    Address(secure=False, host='127.0.0.1', port=8000, prefix='')
    >>> str(Address.of("https://lab.example/windvane"))
    'https://lab.example/windvane'
    >>> Address.of("127.0.0.1:8000")
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: url='127.0.0.1:8000': must be http:// or https://, a host, ...
    """

    secure: bool
    host: str
    port: int | None
    prefix: str

    @staticmethod
    def of(url: Any) -> Address:
        """The address that a URL names."""
        text = url if isinstance(url, str) and url.isascii() and url.isprintable() else ""
        try:
            parts = urlsplit(text)
            host, port = parts.hostname, parts.port
        except ValueError as error:
            raise InvalidArgument(f"url={url!r}: {error}") from None
        if parts.username is not None or parts.password is not None:
            raise InvalidArgument("url: holds a user's name; a service is entered with token=... alone")
        more = parts.query or parts.fragment or " " in text
        if parts.scheme not in ("http", "https") or not host or more:
            raise InvalidArgument(
                f"url={url!r}: must be http:// or https://, a host, and no more than a path"
            )
        return Address(parts.scheme == "https", host, port, parts.path.rstrip("/"))

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port is None else f":{self.port}"
        return f"http{'s' if self.secure else ''}://{host}{port}{self.prefix}"

    def connection(self, timeout: float) -> http.client.HTTPConnection:
        """A connection, opened with its first request; certificates are checked."""
        if not self.secure:
            return http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=context)
