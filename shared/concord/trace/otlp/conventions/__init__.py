"""The conventions that spans of agents follow, a module each. A span is read by the first that recognises it."""

from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.conventions import gen_ai, langfuse, langsmith, mlflow, openinference, openllmetry, vercel
from concord.trace.otlp.reading import Convention

CONVENTIONS: Final[tuple[tuple[str, Convention], ...]] = (
    (genai.LANGSMITH_KIND[0], langsmith.read),
    (genai.LANGFUSE_TYPE[0], langfuse.read),
    (genai.MLFLOW_TYPE[0], mlflow.read),
    (genai.OPENINFERENCE_KIND[0], openinference.read),
    (genai.OPENLLMETRY_KIND[0], openllmetry.read),
    (genai.VERCEL_OPERATION[0], vercel.read),
    (genai.GENAI_OPERATION[0], gen_ai.read),
)
"""Each with the attribute that its spans have. The general one comes last, because the others write some of its
attributes as well."""

__all__ = ["CONVENTIONS"]
