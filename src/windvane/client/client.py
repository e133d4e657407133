"""The service as a whole: its studies, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from windvane.checks import integer, real
from windvane.client.address import Address
from windvane.client.answers import listed, read
from windvane.client.remote import RemoteStudy
from windvane.client.spelling import body, options_json
from windvane.client.transport import Request, Transport
from windvane.errors import InvalidArgument
from windvane.protocol import Summary
from windvane.protocol.checks import metadata_of
from windvane.protocol.requests import DAY, given, space_json
from windvane.spaces import Domain


class Client:
    """A service that `windvane serve` runs somewhere. Threads may share one; each has its own connection.

    An attempt may take `timeout` seconds and is followed by up to `retries` more if the connection broke or
    the service was busy. A measurement is recorded once, however many attempts it takes.

    >>> client = Client("http://127.0.0.1:8000")
    >>> client
    Client('http://127.0.0.1:8000')
    """

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        token: str | None = None,
        timeout: float = 10.0,
        retries: int = 3,
    ) -> None:
        self._transport = Transport(
            Address.of(url),
            _token(token),
            real("timeout", timeout, above=0.0),
            integer("retries", retries, at_least=0),
        )

    def __repr__(self) -> str:
        return f"Client({str(self._transport.address)!r})"

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections of all threads; the next request opens another."""
        self._transport.close()

    def studies(self) -> list[Summary]:
        """All studies, by name."""
        found = self._transport.json(Request("GET", "/v1/studies"))
        return [read(Summary, each) for each in listed(found, "studies")]

    def create(
        self,
        name: str,
        space: Domain | Mapping[str, Any],
        algorithm: str = "auto",
        *,
        goal: str = "maximize",
        seed: int | None = None,
        expires_after: float | None = DAY,
        metadata: Mapping[str, Any] | None = None,
        exist_ok: bool = False,
        **options: Any,
    ) -> RemoteStudy:
        """A new study; `Conflict` if there is one of that name. Options are those of `windvane.make`.

        With `exist_ok`, a study of that name that was created with the same arguments is opened instead.
        Without, this is not tried again after a connection broke: whose study the second attempt would find
        there is not to be known.
        """
        sent = given(
            name=name,
            space=space_json(space),
            algorithm=algorithm,
            goal=goal,
            seed=seed,
            metadata=metadata_of(metadata) or None,
            options=options_json(options) or None,
            exist_ok=exist_ok or None,
        )
        sent["expires_after"] = expires_after  # None: never
        made = self._transport.json(Request("POST", "/v1/studies", body(sent), repeat=exist_ok))
        return RemoteStudy(self._transport, read(Summary, made).name)

    def study(self, name: str) -> RemoteStudy:
        """A study that exists; `UnknownName` if it does not."""
        study = RemoteStudy(self._transport, name)
        study.summary()
        return study


def _token(token: Any) -> str | None:
    if token is None:
        return None
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token.strip():
        raise InvalidArgument("token: must be the text that `windvane token add` printed")
    return token.strip()
