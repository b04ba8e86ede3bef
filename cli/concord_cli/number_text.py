"""Numbers for display: significant digits only, and durations in a fitting unit."""

from typing import Final

NONE: Final = "\N{EN DASH}"
"""In place of a missing value."""

_SECOND, _MINUTE, _HOUR = 1_000.0, 60_000.0, 3_600_000.0


def figure(value: float | None) -> str:
    """A ratio or a count: three decimals below ten, one below a hundred, then none; without trailing zeros."""
    if value is None:
        return NONE
    size = abs(value)
    if size >= 1e9:
        return f"{value:.2e}"
    text = f"{value:,.{3 if size < 10 else 1 if size < 100 else 0}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def duration(ms: float | None) -> str:
    """A duration in a fitting unit: `0.4 ms`, `311 ms`, `1.24 s`, `2.1 min`, `3.0 h`."""
    if ms is None:
        return NONE
    size = abs(ms)
    if size < 9.95:
        return f"{ms:.2g} ms"
    if size < _SECOND - 0.5:
        return f"{ms:.0f} ms"
    if size < _MINUTE:
        return f"{ms / _SECOND:.3g} s"
    if size < _HOUR:
        return f"{ms / _MINUTE:.1f} min"
    return f"{ms / _HOUR:.1f} h" if size < 1e9 else f"{ms / _HOUR:.2e} h"


def percent(share: float) -> str:
    """A share (0 to 1) as a percentage for SVG and CSS: `12.5%`."""
    text = f"{100 * share:.3f}".rstrip("0").rstrip(".")
    return f"{text}%"


def figure_or_dash(value: float | None, form: str) -> str:
    """A number in a form, or `-`."""
    return "-" if value is None else f"{value:{form}}"


def span(low: float | None, high: float | None, form: str = ".1f") -> str:
    """An interval, `1.0 to 2.5`, or `-`."""
    return "-" if low is None or high is None else f"{low:{form}} to {high:{form}}"


def count(value: int | None) -> str:
    """`3,400`; a dash for None."""
    return NONE if value is None else f"{value:,}"
