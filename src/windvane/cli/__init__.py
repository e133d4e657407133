"""The command line: one file a verb."""

from windvane.cli.main import main

__all__ = ["main"]
