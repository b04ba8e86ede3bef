"""Simulated times for display, in UTC."""

from datetime import UTC, datetime


def moment(timestamp: datetime) -> datetime:
    """The time in UTC; at the ends of the calendar, the clock time of its own zone."""
    try:
        return timestamp.astimezone(UTC)
    except OverflowError:
        return timestamp.replace(tzinfo=UTC)


def clock(timestamp: datetime) -> str:
    """`08:05`."""
    return f"{moment(timestamp):%H:%M}"


def date(timestamp: datetime) -> str:
    """`Monday 4 May 2026`."""
    at = moment(timestamp)
    return f"{at:%A} {at.day} {at:%B} {at.year}"
