"""English names of months, whatever the locale of the process is."""

from typing import Final

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

MONTH_PATTERN: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
"""Matches the name of a month or its abbreviation, without a full stop. Needs `re.IGNORECASE`."""

_ABBREVIATIONS: Final = tuple(name[:3].casefold() for name in MONTHS)


def month_number(name: str) -> int:
    """The number of a month from 1, by its English name or abbreviation. Raises ValueError."""
    return _ABBREVIATIONS.index(name[:3].casefold()) + 1
