"""What was said in a span, in the conventions of all libraries that record it."""

from concord.trace.otlp.content.content import (
    NOTHING,
    UNKNOWN,
    Content,
    Event,
    as_attribute_text,
    with_content,
)
from concord.trace.otlp.content.names import is_content

__all__ = ["NOTHING", "UNKNOWN", "Content", "Event", "as_attribute_text", "is_content", "with_content"]
