"""Numbers as people read them: written out, with the digits that their uncertainty deserves.

The page has the same rules (`dashboard/format.js`), with thin spaces between thousands.
"""

from __future__ import annotations

import math

LARGE = 1e9  # from here on, and below SMALL, with a power of ten
SMALL = 1e-4
MOST = 12  # digits that are worth reading at all


def number(value: float, digits: int = 4) -> str:
    """A number of which nobody knows how exact it is; the digits before the decimal point are all there.

    >>> number(1234567.8), number(90.7898), number(0.5), number(-0.0), number(3e-7), number(12345.0)
    ('1234568', '90.79', '0.5', '0', '3e-07', '12345')
    >>> number(90.7898, 6), number(1.5e12), number(math.nan)
    ('90.7898', '1.5e+12', 'nan')
    """
    if not math.isfinite(value) or _extreme(abs(value)):
        return f"{value:.{digits}g}"
    if value == math.floor(value):
        return f"{value + 0.0:.0f}"
    text = f"{value:.{max(0, digits - 1 - _power(value))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def estimate(mean: float, std: float) -> str:
    """A mean and its standard deviation, both to the second digit of the latter.

    >>> estimate(48.8509, 0.143617), estimate(1234567.0, 6344.0), estimate(1.5, 0.0), estimate(12.0, 0.996)
    ('48.85 ± 0.14', '1234600 ± 6300', '1.5 ± 0', '12.0 ± 1.0')
    >>> estimate(7.94613e-13, 6.2e-12), estimate(-2.5e9, 1.2e7), estimate(1e8, 1e-7)
    ('(0.8 ± 6.2)e-12', '(-2.500 ± 0.012)e+09', '100000000.000 ± 1e-07')
    """
    if not (math.isfinite(mean) and math.isfinite(std) and std > 0.0):
        return f"{number(mean)} ± {number(std)}"
    size = max(abs(mean), std)
    place = _power(float(f"{std:.1e}")) - 1
    if place < _power(size) - MOST + 1:  # too exact to be written out
        exact = number(mean, MOST) if _extreme(size) else _to(mean, _power(size) - MOST + 1)
        return f"{exact} ± {number(std)}"
    if not _extreme(size):
        return f"{_to(mean, place)} ± {_to(std, place)}"
    power = _power(size)
    both = (_to(_shifted(each, -power), place - power) for each in (mean, std))
    return f"({' ± '.join(both)})e{power:+03d}"


def rounded(value: float, std: float) -> str:
    """A number to the second digit of a standard deviation; without one, as `number` has it.

    >>> rounded(1686608.1, 5200.0), rounded(1.18231, 0.021), rounded(-1.141e-11, 6.2e-12), rounded(1.5, 0.0)
    ('1686600', '1.182', '-1.141e-11', '1.5')
    """
    if not (math.isfinite(value) and math.isfinite(std) and std > 0.0) or _extreme(max(abs(value), std)):
        return number(value)
    place = _power(float(f"{std:.1e}")) - 1
    return _to(value, max(place, _power(max(abs(value), std)) - MOST + 1))


def _power(value: float) -> int:
    """The power of ten of the leading digit."""
    return int(f"{value:e}".split("e")[1])


def _shifted(value: float, power: int) -> float:
    """Times a power of ten, which may itself be too large for a number."""
    digits, own = f"{value:.16e}".split("e")
    return float(f"{digits}e{int(own) + power}")


def _extreme(size: float) -> bool:
    return size >= LARGE or 0.0 < size < SMALL


def _to(value: float, place: int) -> str:
    """Rounded to the place of a power of ten, with zeros up to there."""
    return f"{round(value, -place) + 0.0:.{max(0, -place)}f}"


def counted(count: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "reset"), counted(1200, "observation")
    ('1 reset', '1,200 observations')
    """
    return f"{count:,} {what}{'s' * (count != 1)}"
