"""What the gateway's step of a carried call says beside the call itself: the names of its fields."""

from typing import Final

WORDS_FIELD: Final = "words"
"""Of a step's `requests`: the words that the message held and the quoted text lacks, such as those of data parts."""

RESPONSE_WORDS: Final = "response_words"
"""The attribute with the same of the answer."""

REFUSED_BY: Final = "refused_by"
"""The attribute of a call that the gateway refused for a limit of its own: nobody's failure."""

GATEWAY: Final = "gateway"

MAX_WORDS: Final = 8000
"""Characters of such words: what an attribute holds."""
