"""A client of the service: ask and tell over HTTP, where a broken connection never doubles a measurement."""

from windvane.client.answers import RemoteExplanation
from windvane.client.client import Client
from windvane.client.remote import RemoteStudy

__all__ = ["Client", "RemoteExplanation", "RemoteStudy"]
