"""The conventions that spans of agents follow, a module each. A span is read by the first that recognises it."""

from typing import Final

from concord.trace.otlp.conventions import gen_ai, langfuse, langsmith, mlflow, openinference, openllmetry, vercel
from concord.trace.otlp.reading import Convention

CONVENTIONS: Final[tuple[Convention, ...]] = (
    langsmith.read,
    langfuse.read,
    mlflow.read,
    openinference.read,
    openllmetry.read,
    vercel.read,
    gen_ai.read,
)
"""The general one comes last, because the others write some of its attributes as well."""

__all__ = ["CONVENTIONS"]
