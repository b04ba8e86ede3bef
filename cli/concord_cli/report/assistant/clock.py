"""Simulated times for display, in UTC."""

from datetime import UTC, datetime

from concord_cli.display_text import beginning


def moment(timestamp: str) -> datetime | None:
    """The time of an ISO 8601 timestamp in UTC, also of one without an offset; None for any other text."""
    try:
        found = datetime.fromisoformat(timestamp)
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def clock(timestamp: str) -> str:
    """`08:05`; a text that is not a time, cut."""
    at = moment(timestamp)
    return beginning(timestamp, 25) if at is None else f"{at:%H:%M}"


def date(timestamp: str) -> str:
    """`Monday 4 May 2026`; empty for a text that is not a time."""
    at = moment(timestamp)
    return "" if at is None else f"{at:%A} {at.day} {at:%B} {at.year}"
