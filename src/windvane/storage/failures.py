"""What a database says went wrong, as errors of ours that say what to do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError

from windvane.errors import MissingExtra, StorageFailure

ADVICE = (
    ("full", "the disk is full; nothing of this step was kept. Make room and try again"),
    ("not a database", "not a Windvane database, or damaged. Restore it from a backup"),
    ("malformed", "the database is damaged. Restore it from a backup"),
    (
        "lock timeout",
        "another process holds the database for too long; nothing of this step was kept. Try again",
    ),
    (
        "statement timeout",
        "the database took too long to answer, and was stopped. Try again when it has less to do",
    ),
    ("idle-in-transaction", "the database gave up waiting for this step; nothing of it was kept. Try again"),
    ("read-only transaction", "the database cannot be written to: the server allows reading only"),
    ("locked", "another process holds the database for too long. Try again"),
    ("readonly", "the database cannot be written to. Check the permissions of the file and its folder"),
    ("unable to open", "the database cannot be opened. Check that its folder exists and is yours to write"),
    ("disk i/o", "the disk could not be written; nothing of this step was kept. Check it, then try again"),
    ("no space", "the disk is full; nothing of this step was kept. Make room and try again"),
    ("connect", "the database cannot be reached. Check the address and that the server runs"),
)


@contextmanager
def reported(where: str) -> Iterator[None]:
    """Database errors inside become a `StorageFailure` that names the database."""
    try:
        yield
    except NoSuchModuleError as error:
        raise MissingExtra(f"{where}: this needs a driver: pip install 'windvane[studies]'") from error
    except DBAPIError as error:
        said = " ".join(str(error.orig).split())
        advice = next((advice for word, advice in ADVICE if word in said.lower()), "the database refused")
        raise StorageFailure(f"{where}: {advice} ({said})") from error
    except SQLAlchemyError as error:
        raise StorageFailure(f"{where}: {' '.join(str(error).split())}") from error
