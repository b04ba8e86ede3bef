"""Subjects without what replying and forwarding put before them."""

import re
from functools import lru_cache
from typing import Final

_PREFIX: Final = re.compile(r"(?:(?:re|fwd?|aw|wg|sv|tr)(?:\[\d+\])?\s*:\s*)+", re.IGNORECASE)


@lru_cache(maxsize=4096)
def base_subject(subject: str) -> str:
    """The base subject (RFC 5256 §2.1, without its rarer forms): lower case, no prefixes, single blanks."""
    text = " ".join(subject.split())
    prefix = _PREFIX.match(text)
    return text[prefix.end() if prefix else 0 :].casefold()


@lru_cache(maxsize=4096)
def is_reply(subject: str) -> bool:
    """Whether a subject says that the mail answers or forwards another."""
    return _PREFIX.match(subject.lstrip()) is not None
