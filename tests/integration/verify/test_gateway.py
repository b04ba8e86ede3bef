"""The gateway's files of an assessment: none of them can take back its row, and old bundles are deleted."""

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from concord.bundle import BundleWriter, bundle_file
from concord_gateway import bundles as gateways_bundles
from tests.kit.assessing import PATTERN
from tests.kit.stack import stack

CONFIG: dict[str, Any] = {"tasks": None, "interaction_pattern": PATTERN}


class TestRowFirst:
    async def test_without_a_place_for_bundle_and_results_the_row_is_answered_and_says_so(
        self, redis_url: str, tmp_path: Path
    ) -> None:
        for folder in ("bundles", "assessments"):
            (tmp_path / folder).write_text("no folder")
        async with stack(redis_url, tmp_path) as running:
            row = await running.row({}, **CONFIG)
        assert row["score"] is not None
        assert _without_bundle(row) == "File exists"

    async def test_a_disk_that_fills_up_in_the_bundle_leaves_no_file_and_costs_the_bundle_alone(
        self, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(BundleWriter, "close", _raising(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))))
        async with stack(redis_url, tmp_path) as running:
            row = await running.row({}, **CONFIG)
        assert _without_bundle(row) == "No space left on device"
        assert list((tmp_path / "bundles").iterdir()) == []
        assert (tmp_path / "results.json").exists()

    async def test_a_bundle_that_goes_while_the_oldest_are_looked_for_costs_nothing(
        self, redis_url: str, tmp_path: Path
    ) -> None:
        (tmp_path / "bundles").mkdir()
        (tmp_path / "bundles" / "gone.zip").symlink_to(tmp_path / "nowhere")  # is listed, and cannot be looked at
        async with stack(redis_url, tmp_path) as running:
            row = await running.row({}, **CONFIG)
        assert row["detail"]["bundle_sha256"] is not None

    async def test_a_fault_of_our_own_in_the_bundle_costs_the_bundle_alone(
        self, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gateways_bundles, "_pieces_of_trials", _raising(ValueError("a member is odd")))
        async with stack(redis_url, tmp_path) as running:
            assert _without_bundle(await running.row({}, **CONFIG)) == "a member is odd"

    async def test_a_bundle_that_does_not_end_is_given_up(
        self, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def forever(*_: object) -> AsyncIterator[None]:
            await asyncio.Event().wait()
            yield

        monkeypatch.setattr(gateways_bundles, "_pieces_of_trials", forever)
        monkeypatch.setattr(gateways_bundles, "LIMIT_S", 0.2)
        async with stack(redis_url, tmp_path) as running:
            assert "not written within 0.2 s" in _without_bundle(await running.row({}, **CONFIG))


def _raising(error: Exception) -> Callable[..., NoReturn]:
    def fail(*_: object) -> NoReturn:
        raise error

    return fail


def _without_bundle(row: dict[str, Any]) -> str:
    """Why a row has no bundle."""
    assert row["detail"]["bundle_sha256"] is None
    [reason] = [each for each in row["detail"]["warnings"] if "for want of a bundle" in each]
    return str(reason).partition("bundle: ")[2].removesuffix(".")


async def test_the_oldest_bundles_are_deleted_beyond_the_limit(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gateways_bundles, "MAX_KEPT_BYTES", 1)
    async with stack(redis_url, tmp_path) as running:
        rows = [await running.row({}, **CONFIG) for _ in range(2)]
    first, second = (bundle_file(tmp_path, row["detail"]["assessment_id"]) for row in rows)
    assert not first.exists()
    assert second.exists()
