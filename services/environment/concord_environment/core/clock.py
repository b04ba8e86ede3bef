"""Simulated time: integer microseconds since 1970 in the engine, aware UTC datetimes everywhere else."""

from datetime import UTC, datetime, timedelta
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
LATEST: Final = datetime(2200, 1, 1, tzinfo=UTC)
"""The end of simulated time. Time zones are not defined so far ahead, and datetime arithmetic overflows later."""

TICK: Final = 1
"""The clock's resolution in microseconds. An action that waits for time to move is due one tick from now."""

_MICROSECOND: Final = timedelta(microseconds=1)


def to_us(moment: datetime) -> int:
    """Microseconds since 1970 of an aware datetime."""
    return (moment - EPOCH) // _MICROSECOND


def from_us(instant: int) -> datetime:
    """The datetime in UTC of an instant in microseconds."""
    return EPOCH + timedelta(microseconds=instant)


def as_utc(moment: datetime) -> datetime:
    """The same moment in UTC. A naive datetime counts as UTC. Raises ValueError outside 1970 to 2200."""
    try:
        utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("must lie between 1970 and 2200") from error
    if not EPOCH <= utc < LATEST:
        raise ValueError("must lie between 1970 and 2200")
    return utc
