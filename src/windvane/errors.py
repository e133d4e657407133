"""One root error. Every error Windvane raises on purpose is a `WindvaneError`.

Each concrete error also derives from the built-in that Python users expect, so
`except ValueError` keeps working.
"""

from __future__ import annotations


class WindvaneError(Exception):
    """The root of every error that Windvane raises on purpose.

    >>> issubclass(InvalidArgument, WindvaneError) and issubclass(InvalidArgument, ValueError)
    True
    """


class InvalidArgument(WindvaneError, ValueError):
    """An argument has the right kind but a value that is not allowed."""


class InvalidType(WindvaneError, TypeError):
    """An argument is of a kind that is not allowed."""


class UnknownName(WindvaneError, LookupError):
    """A name (of an algorithm, a task, a component) that nobody registered."""


class Conflict(WindvaneError, ValueError):
    """What is asked contradicts what is recorded: a study that exists already, a value told twice."""


class CorruptState(WindvaneError, ValueError):
    """A state that is cut, altered, or written by another version."""


class NumericalFailure(WindvaneError, ArithmeticError):
    """A computation that could not be carried out in double precision."""


class MissingExtra(WindvaneError, ImportError):
    """An optional package is needed; the message says which extra installs it."""


class StorageFailure(WindvaneError, OSError):
    """Something could not be written or read: a full disk, a missing permission, a damaged file."""


class UncertainWrite(StorageFailure):
    """It is not known whether a step was written: the database went away in the very moment.

    Any other `StorageFailure` of a step means that nothing of it was kept. Do not simply repeat this one:
    look into the journal, or repeat it under the key that it had.
    """


class Forbidden(WindvaneError, PermissionError):
    """A service wants a token, or one that may do more."""


class Unavailable(WindvaneError, ConnectionError):
    """A service could not be reached, has too much to do, or does not answer as a Windvane service does."""


class WorkersLost(WindvaneError, RuntimeError):
    """Worker processes died and could not be replaced."""


class AlgorithmFailed(WindvaneError, RuntimeError):
    """An algorithm that is not from Windvane raised an exception or broke the rules.

    `traceback` is that of the exception, if there was one.
    """

    traceback: str | None = None
