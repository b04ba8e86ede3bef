"""`/bundles/<SHA-256>`: the owner of an assessment fetches its bundle, so that rows that came over the wire verify."""

import json
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import JsonValue, SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from concord.bundle import bundle_file
from concord_cli import bundle_download
from concord_cli.assessing import ask
from concord_cli.commands.arguments import VerifyArguments
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.terminal import ProgressLog
from concord_cli.verify.command import sign_results, verify
from concord_gateway import bundles as gateways_bundles
from tests.integration.verify.test_signature import pem, public_pem
from tests.kit.assessing import PATTERN
from tests.kit.serving import served
from tests.kit.stack import Stack, called, message, request, stack

OWNER, OTHER, OPERATOR = (f"the-key-of-the-{name}" for name in ("owner", "other", "operator"))
KEYS = SecretStr(f"{OWNER},{OTHER}")
PATTERNS: dict[str, Any] = {"tasks": None, "interaction_pattern": PATTERN}


async def _assessed(running: Stack, folder: Path, key: str = "") -> tuple[Path, str]:
    """The results file that the platform's client writes of an assessment, and the id of its task."""
    headers = {"authorization": f"Bearer {key}"} if key else None
    _, answer = await called(running.gateway, "message/send", headers, **message(request({}, **PATTERNS)))
    task = answer["result"]
    rows = [part["data"] for artifact in task["artifacts"] for part in artifact["parts"] if part["kind"] == "data"]
    return _written(folder, rows), task["id"]


def _written(folder: Path, rows: list[JsonValue]) -> Path:
    folder.mkdir(exist_ok=True)
    results = folder / "results.json"
    results.write_text(json.dumps({"participants": {}, "results": rows}, indent=2))
    return results


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _digest(results: Path) -> str:
    return str(json.loads(results.read_text())["results"][0]["detail"]["bundle_sha256"])


async def _status(running: Stack, digest: str, **headers: str) -> int:
    async with httpx.AsyncClient(timeout=60) as http:
        answer = await http.get(f"{running.gateway}/bundles/{digest}", headers=headers)
    if answer.status_code == 200:
        assert sha256(answer.content).hexdigest() == digest
        assert answer.headers["cache-control"] == "no-store"
    else:
        assert answer.json() == {"detail": "no such bundle"}
    return answer.status_code


def _arguments(results: Path, url: str, key: Path | None = None) -> VerifyArguments:
    return VerifyArguments(results, scenarios=[], key=key, bundle_from=url)


class TestOwner:
    async def test_a_row_of_the_platforms_client_is_verified_and_signed_with_the_owners_key(
        self, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        secret = Ed25519PrivateKey.generate()
        (tmp_path / "key.pub").write_text(public_pem(secret))
        monkeypatch.setenv("CONCORD_SIGNING_KEY", pem(secret))
        async with stack(redis_url, tmp_path / "gateway", api_keys=KEYS) as running:
            results, _ = await _assessed(running, tmp_path / "client", OWNER)
            monkeypatch.setenv("CONCORD_API_KEY", OTHER)
            with pytest.raises(AssessmentError, match="no such bundle for this key"):
                await verify(_arguments(results, running.gateway))
            monkeypatch.setenv("CONCORD_API_KEY", OWNER)
            await sign_results(_arguments(results, running.gateway))
        [bundle] = (tmp_path / "client" / "bundles").iterdir()
        assert stat.S_IMODE(bundle.stat().st_mode) == 0o600
        await verify(_arguments(results, "http://127.0.0.1:9", tmp_path / "key.pub"))
        assert "The signature was made with the given key." in capsys.readouterr().out

    async def test_concord_assess_keeps_the_bundle_beside_the_results(
        self, redis_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        async with stack(redis_url, tmp_path / "gateway") as running:
            scenario = tmp_path / "pattern.toml"
            pattern = json.dumps(PATTERN).replace('":', '" =')
            scenario.write_text(f'green_agent.endpoint = "{running.gateway}"\nconfig.interaction_pattern = {pattern}\n')
            await ask(scenario, tmp_path / "client" / "results.json", ProgressLog())
        await verify(VerifyArguments(tmp_path / "client" / "results.json", scenarios=[]))
        assert "Every value of 1 row follows" in capsys.readouterr().out


class TestAccess:
    async def test_a_bundle_exists_for_its_owner_and_for_nobody_else(self, redis_url: str, tmp_path: Path) -> None:
        async with stack(redis_url, tmp_path, api_keys=KEYS, bundle_key=SecretStr(OPERATOR)) as running:
            results, task_id = await _assessed(running, tmp_path / "client", OWNER)
            digest = _digest(results)
            assert await _status(running, digest, authorization=f"Bearer {OWNER}") == 200
            assert await _status(running, digest, **{"x-api-key": OWNER}) == 200
            assert await _status(running, digest, authorization=f"Bearer {OPERATOR}") == 200
            for headers in ({}, {"x-api-key": OTHER}, {"x-api-key": task_id}, {"authorization": OWNER}):
                assert await _status(running, digest, **headers) == 404
            assert await _status(running, "0" * 64, **{"x-api-key": OWNER}) == 404
            assert await _status(running, "..%5Cresults", **{"x-api-key": OWNER}) == 404
        stored = b"".join(path.read_bytes() for path in _files(tmp_path))
        assert not any(key.encode() in stored for key in (OWNER, OPERATOR, task_id))

    async def test_without_api_keys_the_id_of_the_task_is_the_key(self, redis_url: str, tmp_path: Path) -> None:
        async with stack(redis_url, tmp_path) as running:
            results, task_id = await _assessed(running, tmp_path / "client")
            assessment_id = json.loads(results.read_text())["results"][0]["detail"]["assessment_id"]
            digest = _digest(results)
            assert await _status(running, digest, authorization=f"Bearer {task_id}") == 200
            for shown in ("", "Bearer", f"Bearer {assessment_id}"):
                assert await _status(running, digest, authorization=shown) == 404

    async def test_no_client_learns_a_task_secret_that_assessments_share(self, redis_url: str, tmp_path: Path) -> None:
        """Its holder would know the tasks of the next assessment."""
        settings: dict[str, Any] = {"task_secret": SecretStr("5e" * 32), "bundle_key": SecretStr(OPERATOR)}
        async with stack(redis_url, tmp_path, api_keys=KEYS, **settings) as running:
            results, _ = await _assessed(running, tmp_path / "client", OWNER)
            assert await _status(running, _digest(results), **{"x-api-key": OWNER}) == 404
            assert await _status(running, _digest(results), **{"x-api-key": OPERATOR}) == 200

    async def test_a_deleted_bundle_leaves_nothing_behind(
        self, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(gateways_bundles, "MAX_KEPT_BYTES", 1)
        async with stack(redis_url, tmp_path, api_keys=KEYS) as running:
            first, second = [_digest((await _assessed(running, tmp_path / "client", OWNER))[0]) for _ in range(2)]
            assert await _status(running, first, **{"x-api-key": OWNER}) == 404
            assert await _status(running, second, **{"x-api-key": OWNER}) == 200
        assert [path.stem for path in (tmp_path / "bundle-clients").iterdir()] == [second]

    async def test_a_client_that_cannot_be_stored_costs_neither_row_nor_bundle(
        self, redis_url: str, tmp_path: Path
    ) -> None:
        (tmp_path / "bundle-clients").write_text("no folder")
        async with stack(redis_url, tmp_path) as running:
            results, task_id = await _assessed(running, tmp_path / "client")
            assert await _status(running, _digest(results), authorization=f"Bearer {task_id}") == 404
        detail = json.loads(results.read_text())["results"][0]["detail"]
        assert sha256(bundle_file(tmp_path, detail["assessment_id"]).read_bytes()).hexdigest() == _digest(results)


@asynccontextmanager
async def _hostile(content: Callable[[], AsyncIterator[bytes]], status: int = 200) -> AsyncIterator[str]:
    async def answer(_: Request) -> StreamingResponse:
        return StreamingResponse(content(), status, {"location": "http://127.0.0.1:9/"})

    async with served(Starlette(routes=[Route("/bundles/{digest}", answer)])) as url:
        yield url


class TestHostileServer:
    """A green agent gets no other file onto the client's disk, and does not fill it."""

    ROW: ClassVar[JsonValue] = {"detail": {"assessment_id": "a1", "bundle_sha256": sha256(b"the bundle").hexdigest()}}

    async def test_only_the_bundle_with_the_rows_digest_is_kept(self, tmp_path: Path) -> None:
        async def other() -> AsyncIterator[bytes]:
            yield b"another bundle"

        async with _hostile(other) as url:
            with pytest.raises(AssessmentError, match="has the SHA-256"):
                await bundle_download.download_bundles([self.ROW], tmp_path, url)
        assert _files(tmp_path) == []

    async def test_an_endless_bundle_ends_at_the_limit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bundle_download, "MAX_FILE", 2**20)

        async def endless() -> AsyncIterator[bytes]:
            for _ in range(64):
                yield bytes(2**16)

        async with _hostile(endless) as url:
            with pytest.raises(AssessmentError, match="is longer than"):
                await bundle_download.download_bundles([self.ROW], tmp_path, url)
        assert _files(tmp_path) == []

    async def test_redirects_are_not_followed(self, tmp_path: Path) -> None:
        async def nothing() -> AsyncIterator[bytes]:
            yield b""

        async with _hostile(nothing, 302) as url:
            with pytest.raises(AssessmentError, match="HTTP 302"):
                await bundle_download.download_bundles([self.ROW], tmp_path, url)

    async def test_rows_name_no_other_files_and_no_other_addresses(self, tmp_path: Path) -> None:
        digest = "0" * 64
        odd = [{"assessment_id": "../x", "bundle_sha256": digest}, {"assessment_id": "a", "bundle_sha256": "../../x"}]
        rows: list[Any] = [{"detail": detail} for detail in odd]
        assert await bundle_download.download_bundles(rows, tmp_path, "http://127.0.0.1:9") == []
        with pytest.raises(UsageError):
            await bundle_download.download_bundles(rows, tmp_path, "file:///etc")
