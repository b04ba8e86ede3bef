"""docs/metrics.md: it defines every metric and names every threshold."""

from pathlib import Path

from concord.assessment import Thresholds
from concord_evaluator.metrics.registry import as_table

DOCUMENT = Path("docs/metrics.md").read_text(encoding="utf-8")


def test_the_document_shows_the_table_of_all_metrics() -> None:
    assert "\n".join(as_table()) in DOCUMENT, "run: python -m concord_evaluator.metrics"


def test_the_document_names_every_threshold_with_its_default() -> None:
    for name, field in Thresholds.model_fields.items():
        assert f"`{field.alias or name}` ({field.default:g})" in DOCUMENT
