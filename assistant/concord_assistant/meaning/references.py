"""Words by which a message refers to an earlier one."""

import re
from typing import Final

_REFERS_BACK: Final = re.compile(
    r"\b(?:cancel\w*|correct(?:ion|ed|ing)?|remind\w*|reminder|instead|mistake|sorry|apolog\w+|earlier|previous\w*|"
    r"as (?:i )?(?:ordered|agreed|wrote|said)|follow(?:ing)?[- ]up|still|once more|again|not (?:need|order|want)\w*|"
    r"replaces?|withdraw\w*|revoke\w*|ignore my|disregard my)\b",
    re.I,
)
_CANCELS: Final = re.compile(
    r"\b(?:cancel\w*|withdraw\w*|revoke\w*|call(?:ed)? off|(?:do(?:es)? not|don't|no longer) (?:need|want|order))\b",
    re.I,
)


def refers_back(text: str) -> bool:
    """Whether a message corrects, recalls or cancels an earlier one."""
    return _REFERS_BACK.search(text) is not None


def cancels(text: str) -> bool:
    """Whether a message cancels what an earlier one did."""
    return _CANCELS.search(text) is not None
