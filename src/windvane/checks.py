"""Validation at the door: every check names the argument and what is allowed."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping
from datetime import datetime
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt

from windvane.errors import InvalidArgument, InvalidType, UnknownName
from windvane.moments import utc

Array = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Shape = tuple[int | str | None, ...]
Time = float | datetime | None
LONGEST = 10_000  # characters of a reason
GOALS = {"maximize": "maximize", "maximise": "maximize", "minimize": "minimize", "minimise": "minimize"}


def bounds_text(
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> str:
    """A range in words.

    >>> bounds_text(above=0, below=1)
    'above 0 and below 1'
    """
    parts = []
    if above is not None:
        parts.append(f"above {above:g}")
    if at_least is not None:
        parts.append(f"at least {at_least:g}")
    if below is not None:
        parts.append(f"below {below:g}")
    if at_most is not None:
        parts.append(f"at most {at_most:g}")
    return " and ".join(parts)


def _number(above: float | None, at_least: float | None, below: float | None, at_most: float | None) -> str:
    return f"a finite number {bounds_text(above, at_least, below, at_most)}".rstrip()


def _whole(at_least: int | None, at_most: int | None) -> str:
    return f"an integer {bounds_text(at_least=at_least, at_most=at_most)}".rstrip()


def real(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> float:
    """A finite float within the stated range.

    >>> real("delta", 0.1, above=0, below=1)
    0.1
    >>> real("delta", 1.5, above=0, below=1)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: delta=1.5: must be a finite number above 0 and below 1
    """
    if type(value) is not float:
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = math.nan if np.ma.is_masked(value) else value.item()  # whose item is 0.0
        if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
            raise InvalidType(f"{name}={value!r}: must be {_number(above, at_least, below, at_most)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if (
        not math.isfinite(number)
        or (above is not None and number <= above)
        or (at_least is not None and number < at_least)
        or (below is not None and number >= below)
        or (at_most is not None and number > at_most)
    ):
        raise InvalidArgument(f"{name}={value!r}: must be {_number(above, at_least, below, at_most)}")
    return number


def instant(name: str, value: Any) -> float:
    """A time: a finite number in the caller's unit, or a datetime with a time zone, in seconds since 1970.

    >>> from datetime import UTC
    >>> instant("time", datetime(2026, 3, 1, 12, tzinfo=UTC))
    1772366400.0
    >>> instant("time", datetime(2026, 3, 1, 12))
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: time=datetime.datetime(2026, 3, 1, 12, 0): must have a time zone, ...
    """
    if isinstance(value, datetime):
        if value != value:  # pandas.NaT, which has no more of a datetime than its class
            raise InvalidArgument(f"{name}={value!r}: must be a time; this is none")
        if value.utcoffset() is None:  # whose clock? A guess would be off by hours, twice a year by one
            raise InvalidArgument(f"{name}={value!r}: must have a time zone, as datetime.now(UTC) has")
        return value.timestamp()
    try:
        return real(name, value)
    except InvalidType:
        wanted = "a finite number, or a datetime with a time zone, as datetime.now(UTC) is"
        raise InvalidType(f"{name}={value!r}: must be {wanted}") from None


def clock_text(stamp: float, like: Any) -> str:
    """A time in words: as a date if it is compared with one, else the number."""
    if not isinstance(like, datetime):
        return repr(stamp)
    try:
        return utc(stamp)
    except (OverflowError, ValueError, OSError):
        return repr(stamp)


def reason_text(reason: Any) -> str:
    """A reason in the caller's words, as it can be stored: a lone surrogate becomes a question mark."""
    if not isinstance(reason, str):
        raise InvalidType(f"reason={reason!r}: must be text")
    if len(reason) > LONGEST or "\0" in reason:
        raise InvalidArgument(f"reason: must be text of at most {LONGEST} characters without NUL")
    return sound_text(reason)


def sound_text(text: str) -> str:
    r"""Text that UTF-8 can carry: a lone surrogate, half of a character, becomes a question mark.

    >>> sound_text("caf\udce9")
    'caf?'
    """
    return text.encode("utf-8", "replace").decode()


def check_text(name: str, value: Any) -> None:
    r"""An error if any text inside plain JSON is not Unicode: it could not be written to a file or sent.

    >>> check_text("metadata", {"file": "caf\udce9"})
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: metadata: 'caf\udce9' has a lone surrogate, ...
    """
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            shown = repr(value) if len(value) <= 60 else f"{value[:60]!r}..."
            raise InvalidArgument(
                f"{name}: {shown} has a lone surrogate, which is no character. Bytes that are not UTF-8, as "
                "in some names of files, can be kept as text: os.fsencode(name).decode('utf-8', 'replace')"
            ) from None
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_text(name, key)
            check_text(name, item)
    elif isinstance(value, list | tuple):
        for item in value:
            check_text(name, item)


def probability(name: str, value: Any) -> float:
    """A number strictly between 0 and 1."""
    return real(name, value, above=0.0, below=1.0)


def integer(name: str, value: Any, *, at_least: int | None = None, at_most: int | None = None) -> int:
    """An integer within the stated range.

    >>> integer("horizon", 0, at_least=1)
    Traceback (most recent call last):
    windvane.errors.InvalidArgument: horizon=0: must be an integer at least 1
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise InvalidType(f"{name}={value!r}: must be {_whole(at_least, at_most)}")
    number = int(value)
    if (at_least is not None and number < at_least) or (at_most is not None and number > at_most):
        raise InvalidArgument(f"{name}={value!r}: must be {_whole(at_least, at_most)}")
    return number


def array(name: str, value: Any, shape: Shape, *, empty: bool = False) -> Array:
    """A new finite float array of the given shape; None or a letter is any length, from 1 if not `empty`."""
    return _array(name, value, shape, empty, np.dtype(np.float64), "numbers", "iuf")


def integers(name: str, value: Any, shape: Shape, *, empty: bool = False) -> IntArray:
    """The same for integers of 64 bits."""
    return _array(name, value, shape, empty, np.dtype(np.int64), "integers", "iu")


def unmasked(value: Any) -> npt.NDArray[Any]:
    """An array in which what is masked is NaN: it is missing, whatever stands there.

    >>> unmasked(np.ma.array([1.0, 2.0], mask=[False, True]))
    array([ 1., nan])
    """
    if isinstance(value, list | tuple):
        value = [math.nan if each is np.ma.masked else each for each in value]
    if np.ma.is_masked(value):
        return np.where(np.ma.getmaskarray(value), math.nan, np.asarray(value))
    return np.asarray(value)


def _array(
    name: str,
    value: Any,
    shape: Shape,
    empty: bool,
    dtype: np.dtype[Any],
    what: str,
    kinds: str,
) -> npt.NDArray[Any]:
    wanted = "x".join("n" if side is None else str(side) for side in shape)
    try:
        given = unmasked(value)
        if given.dtype.kind not in kinds and given.size:  # no strings, booleans, complex numbers or objects
            raise TypeError
        result = np.array(given, dtype=dtype)
        if dtype.kind == "i" and not np.array_equal(result, given):  # more than 64 bits
            raise TypeError
    except (TypeError, ValueError):
        raise InvalidType(f"{name}: must be {what} in an array of shape {wanted}") from None
    fits = result.ndim == len(shape) and all(
        have == want if isinstance(want, int) else have > 0 or empty
        for have, want in zip(result.shape, shape, strict=True)
    )
    if not fits:
        have_text = "x".join(map(str, result.shape)) or "a single number"
        raise InvalidArgument(f"{name}: must have shape {wanted}, got {have_text}")
    if not np.isfinite(result).all():
        raise InvalidArgument(f"{name}: must be finite, got NaN or infinity")
    return result


def one_of(name: str, value: Any, allowed: Iterable[str]) -> str:
    """A known name, else an error that suggests the nearest ones.

    >>> one_of("forced", "emtpy", ["empty", "last"])
    Traceback (most recent call last):
    windvane.errors.UnknownName: forced='emtpy': unknown; did you mean 'empty'? Allowed: empty, last
    >>> one_of("column", "heat", [])
    Traceback (most recent call last):
    windvane.errors.UnknownName: column='heat': unknown. There are none
    """
    names = sorted(allowed)
    if isinstance(value, str) and value in names:
        return value
    close = get_close_matches(str(value).lower(), names, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    known = f"Allowed: {', '.join(names)}" if names else "There are none"
    raise UnknownName(f"{name}={value!r}: unknown{hint} {known}")


def goal_name(value: Any) -> str:
    """The goal: "maximize" or "minimize", which may be given in British spelling.

    >>> goal_name("minimise")
    'minimize'
    """
    return GOALS[one_of("goal", value, GOALS)]
