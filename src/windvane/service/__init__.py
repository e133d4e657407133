"""The service: studies over HTTP, with a page to watch them. `windvane serve` runs it."""

from windvane.service.app import create_app
from windvane.service.config import Config

__all__ = ["Config", "create_app"]
