"""The texts in the parts of an A2A message or artifact, in the JSON of either protocol version."""

from collections.abc import Iterator

from concord.trace.vocabulary import strings_in


def text_of_parts(parts: object) -> str:
    """The text parts of a message or an artifact, one per line."""
    if not isinstance(parts, list):
        return ""
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def strings_in_parts(parts: object) -> Iterator[str]:
    """Every string in the parts of a message or an artifact, including those in data."""
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict):
            yield from strings_in([part.get("text"), part.get("data")])
