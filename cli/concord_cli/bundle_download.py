"""Downloads the bundles of rows from the green agent that made them."""

import asyncio
import re
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
from pydantic import JsonValue

from concord.bundle import MAX_FILE
from concord.files import atomic_file
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.gateway_key import KEY_VARIABLE, shown_key

_PAUSE_S: Final = 60.0
_LIMIT_S: Final = 600.0
_DIGEST: Final = re.compile("[0-9a-f]{64}")


async def download_bundles(results: Sequence[JsonValue], folder: Path, green_agent: str, key: str = "") -> list[Path]:
    """Downloads each row's bundle that is not yet in `folder` (`<assessment id>.zip`), and returns the new files.

    `green_agent`: its base URL. `key`: what to show if `CONCORD_API_KEY` is not set. A bundle has the SHA-256 that its
    row states. Raises UsageError for a URL that is not HTTP, AssessmentError for a bundle that cannot be had.
    """
    if urlsplit(green_agent).scheme not in {"http", "https"}:
        raise UsageError(f"{green_agent} is not the URL of a green agent")
    shown = shown_key(green_agent) or key
    headers = {"authorization": f"Bearer {shown}"} if shown else {}
    downloaded: list[Path] = []
    async with httpx.AsyncClient(headers=headers, timeout=_PAUSE_S) as http:
        for assessment_id, digest in filter(None, map(_named, results)):
            path = folder / f"{assessment_id}.zip"
            if path.exists():
                continue
            try:
                async with asyncio.timeout(_LIMIT_S):
                    await _download(http, f"{green_agent.rstrip('/')}/bundles/{digest}", digest, path)
            except TimeoutError as error:
                raise AssessmentError(f"{green_agent}: the bundle did not arrive within {_LIMIT_S:g} s") from error
            except httpx.HTTPError as error:
                raise AssessmentError(f"{green_agent}: {str(error) or type(error).__name__}") from error
            except OSError as error:
                raise AssessmentError(f"{path}: {error.strerror}") from error
            downloaded.append(path)
    return downloaded


async def _download(http: httpx.AsyncClient, url: str, digest: str, path: Path) -> None:
    async with http.stream("GET", url) as answer:
        if answer.status_code == httpx.codes.NOT_FOUND:
            raise AssessmentError(f"{url}: no such bundle for this key ({KEY_VARIABLE})")
        if answer.status_code != httpx.codes.OK:
            raise AssessmentError(f"{url}: HTTP {answer.status_code}")
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(path, 0o600) as file:
            seen, left = sha256(), MAX_FILE
            async for piece in answer.aiter_raw():
                seen.update(piece)
                left -= len(piece)
                if left < 0:
                    raise AssessmentError(f"{url}: is longer than {MAX_FILE} bytes")
                file.write(piece)
            if seen.hexdigest() != digest:
                raise AssessmentError(f"{url}: has the SHA-256 {seen.hexdigest()}")


def detail_of(row: JsonValue) -> dict[str, JsonValue]:
    """The detail of a row that nobody has checked; empty without one."""
    detail = row.get("detail") if isinstance(row, dict) else None
    return detail if isinstance(detail, dict) else {}


def assessment_of(row: JsonValue) -> str | None:
    """The assessment's id in a row. None for a value that is not a row, and for an id with path characters."""
    found = detail_of(row).get("assessment_id")
    return found if isinstance(found, str) and found.isalnum() else None


def _named(row: JsonValue) -> tuple[str, str] | None:
    """The assessment's id and the bundle's SHA-256 in a row; None without either."""
    assessment_id, digest = assessment_of(row), detail_of(row).get("bundle_sha256")
    if assessment_id is None or not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        return None
    return assessment_id, digest
