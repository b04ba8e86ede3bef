"""The gateway's bundles: an assessment without a bundle completes, and old bundles are deleted."""

from pathlib import Path
from typing import Any

import pytest

from concord.bundle import bundle_file
from concord_gateway import bundle_file as gateways_bundles
from tests.security.assessing import PATTERN
from tests.stack import stack

CONFIG: dict[str, Any] = {"tasks": None, "interaction_pattern": PATTERN}


async def test_an_assessment_without_a_place_for_its_bundle_completes_and_its_row_says_so(
    redis_url: str, tmp_path: Path
) -> None:
    (tmp_path / "bundles").write_text("no folder")
    async with stack(redis_url, tmp_path) as running:
        row = await running.row({}, **CONFIG)
    assert row["score"] is not None
    assert row["detail"]["bundle_sha256"] is None


async def test_the_oldest_bundles_are_deleted_beyond_the_limit(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateways_bundles, "MAX_KEPT_BYTES", 1)
    async with stack(redis_url, tmp_path) as running:
        rows = [await running.row({}, **CONFIG) for _ in range(2)]
    first, second = (bundle_file(tmp_path, row["detail"]["assessment_id"]) for row in rows)
    assert not first.exists()
    assert second.exists()
