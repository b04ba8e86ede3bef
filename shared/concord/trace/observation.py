"""The field names in an observed step of a carried call."""

from typing import Final

UNQUOTED_WORDS: Final = "words"
"""In `requests`: words of the message that the quoted text does not contain, such as those in data parts."""

UNQUOTED_RESPONSE_WORDS: Final = "response_words"
"""Attribute: the same for the answer."""

REFUSED_BY: Final = "refused_by"
"""Attribute of a call that one of the gateway's limits refused: it is nobody's failure."""

GATEWAY: Final = "gateway"

MAX_UNQUOTED: Final = 8000
"""Limit on such words (characters): the size of an attribute."""
