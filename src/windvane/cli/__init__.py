"""The command line: one file per verb."""

from windvane.cli.main import main

__all__ = ["main"]
