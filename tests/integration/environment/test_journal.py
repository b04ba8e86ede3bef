"""The journal: acknowledged writes survive a kill, and files that no longer hold all of them are refused."""

import asyncio
import errno
import json
import os
import shutil
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from concord_environment.app import create_app
from concord_environment.environment import Environment
from concord_environment.modalities.email.state import EmailState
from concord_environment.persistence.capture import capture_all
from concord_environment.persistence.segments import StoreError, segment_header, segments_of
from concord_environment.persistence.store import Store
from concord_environment.settings import EnvironmentSettings
from tests.integration.environment.conftest import ADMIN_KEY, calling, new_environment
from tests.integration.environment.test_scenario import DAY
from tests.kit.serving import eventually

pytestmark = pytest.mark.usefixtures("anyio_backend")


MAIL = {"from_address": "bob@example.com", "to_addresses": ["user@example.com"], "subject": "Hello"}
MBOX = (
    b"From bob@example.com Thu Jan  1 08:00:00 2026\n"
    b"From: bob@example.com\nTo: user@example.com\nMessage-ID: <m@x>\n\nHi\n"
)
HEAD = len(segment_header("0" * 32, 1))


def everything(environment: Environment) -> bytes:
    """All stored data of an environment, in a form that can be compared."""
    return capture_all(environment).snapshot("", 0)


@contextmanager
def recovered(folder: Path) -> Iterator[Environment]:
    """The environment that a process starting with these files would have."""
    store = Store(folder / "snapshot.json")
    try:
        yield store.recover(0)
    finally:
        store.close()


def data_after_kill(folder: Path, copy: Path) -> bytes:
    """The data that a process would start with if the present holder of the files were killed now."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    with recovered(copy) as environment:
        return everything(environment)


def last_segment(folder: Path) -> Path:
    return segments_of(folder / "snapshot.json")[-1].path


# --- every kind of write ---


@asynccontextmanager
async def app_with_journal(folder: Path, environment: Environment) -> AsyncIterator[FastAPI]:
    store = Store(folder / "snapshot.json")
    settings = EnvironmentSettings(allowed_peer_networks=(ip_network("127.0.0.0/8"),))
    app = create_app(environment, settings, store)
    try:
        async with app.router.lifespan_context(app):
            yield app
    finally:
        store.close()


def tool(name: str, **arguments: object) -> dict[str, object]:
    params = {"name": name, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


EVENT = {"modality": "chat", "data": {"role": "user", "content": "Hi"}, "scheduled_time": "2026-01-01T10:00:00Z"}
CALLS: list[tuple[str, str, Any]] = [
    ("POST", "/scenario/import/full", {"scenario": DAY}),
    ("POST", "/email/import/mbox", MBOX),
    ("POST", "/simulation/start", {}),
    ("POST", "/keys", {"name": "agent", "permissions": ["email:*"]}),
    ("DELETE", "/keys/{key}", None),
    ("POST", "/webhooks", {"url": "http://127.0.0.1:9/hook", "secret": "s3cret", "events": ["chat."]}),
    ("PATCH", "/webhooks/{webhook}", {"events": ["email."]}),
    ("POST", "/webhooks/{webhook}/pause", None),
    ("DELETE", "/webhooks/{webhook}", None),
    ("POST", "/email/receive", MAIL),
    ("POST", "/mcp", tool("email_send", to_addresses=["a@b.example"], subject="By MCP")),
    ("POST", "/events", {**EVENT, "scheduled_time": "2026-03-17T10:00:00Z"}),
    ("POST", "/events/batch", {"events": [{**EVENT, "scheduled_time": "2026-03-17T11:00:00Z"}] * 3}),
    ("POST", "/simulator/time/advance", {"seconds": 3600}),
    ("POST", "/simulation/undo", {"count": 4}),
    ("POST", "/simulation/redo", {"count": 2}),
    ("POST", "/simulator/time/skip-to-next", None),
    ("POST", "/simulator/time/set", {"target_time": "2026-03-16T12:00:00Z"}),
    ("POST", "/simulator/time/advance", {"seconds": 0.5}),
    ("POST", "/simulator/time/set-scale", {"scale": 3}),
    ("POST", "/simulator/time/pause", None),
    ("POST", "/simulator/time/resume", None),
    ("DELETE", "/events/{pending}", None),
    ("POST", "/simulation/snapshot", None),
    ("POST", "/simulation/undo", {"count": 9}),
    ("POST", "/simulation/reset", None),
    ("POST", "/simulation/start", {}),
    ("POST", "/simulator/time/advance", {"seconds": 60}),
    ("POST", "/simulation/reset", {"rewind": True}),
    ("POST", "/simulation/start", {}),
    ("POST", "/email/receive", MAIL),
    ("POST", "/simulation/stop", None),
    ("POST", "/simulation/clear", {"reset_time_to": "2026-02-01T00:00:00Z"}),
    ("POST", "/chat/send", {"role": "user", "content": "After"}),
]


async def test_every_kind_of_write_is_on_disk_when_it_is_acknowledged(tmp_path: Path) -> None:
    environment, folder = new_environment(), tmp_path / "live"
    folder.mkdir()
    headers = {"accept": "application/json, text/event-stream"}
    ids: dict[str, str] = {}
    async with app_with_journal(folder, environment) as app, calling(app, ADMIN_KEY) as http:
        for method, path, body in CALLS:
            upcoming = environment.simulation.next_event()
            ids["pending"] = upcoming.event_id if upcoming else ""
            content: dict[str, Any] = {"content": body} if isinstance(body, bytes) else {"json": body}
            before = everything(environment)
            answer = await http.request(method, path.format(**ids), **content, headers=headers)
            assert answer.is_success, (path, answer.text)
            assert 'isError":true' not in answer.text
            assert path == "/simulation/snapshot" or everything(environment) != before, path
            assert data_after_kill(folder, tmp_path / "copy") == everything(environment), path
            if method == "POST" and path in ("/keys", "/webhooks"):
                ids |= {"key": answer.json().get("key_id", ""), "webhook": answer.json().get("id", "")}


# --- one fsync for many ---


@pytest.fixture
def fsync_allowed(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Every fsync waits until this event is set."""
    opened, fsync = threading.Event(), os.fsync
    opened.set()

    def wait_and_sync(file: int) -> None:
        opened.wait()
        fsync(file)

    monkeypatch.setattr(os, "fsync", wait_and_sync)
    yield opened
    opened.set()


async def test_during_an_fsync_reads_are_answered_and_all_writes_share_the_next_frame(
    tmp_path: Path, fsync_allowed: threading.Event
) -> None:
    environment = new_environment()
    async with app_with_journal(tmp_path, environment) as app, calling(app, ADMIN_KEY) as http:
        await http.post("/email/receive", json=MAIL)
        frames = app.state.journal_writer._store.last_frame
        fsync_allowed.clear()
        writes = [asyncio.create_task(http.post("/email/receive", json=MAIL)) for _ in range(50)]
        try:
            await eventually(lambda: len(environment.simulation.events) == 51)
            assert (await http.get("/email/state")).json()["total_email_count"] == 51
            assert not any(write.done() for write in writes)
        finally:
            fsync_allowed.set()
        assert all([(await write).is_success for write in writes])
        assert app.state.journal_writer._store.last_frame <= frames + 2


# --- a disk that fails ---


async def test_after_a_failed_fsync_the_write_and_all_later_requests_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    environment, folder, stopped = new_environment(), tmp_path / "live", []
    folder.mkdir()
    store = Store(folder / "snapshot.json")
    app = create_app(environment, EnvironmentSettings(), store, lambda: stopped.append(True))
    async with app.router.lifespan_context(app), calling(app, ADMIN_KEY) as http:
        await http.post("/email/receive", json={**MAIL, "message_id": "kept"})
        before = everything(environment)
        monkeypatch.setattr(os, "fsync", broken)
        answer = await http.post("/email/receive", json=MAIL)
        assert answer.status_code == 503
        assert "Input/output error" in answer.json()["detail"]
        assert stopped
        assert (await http.get("/email/state")).status_code == 503
    monkeypatch.undo()
    assert data_after_kill(folder, tmp_path / "copy") == before
    store.close()


# --- files as a crash or a bad disk leaves them ---


async def receive(http: httpx.AsyncClient, *names: str) -> None:
    """Receives a mail with each of these message ids."""
    for name in names:
        (await http.post("/email/receive", json={**MAIL, "message_id": name})).raise_for_status()


async def leave_files_with(folder: Path, names: list[str]) -> None:
    """Leaves the files of a process that was killed after it had received these mails, one frame each."""
    (folder / "live").mkdir()
    async with app_with_journal(folder / "live", new_environment()) as app, calling(app, ADMIN_KEY) as http:
        await receive(http, *names)
        shutil.copytree(folder / "live", folder, dirs_exist_ok=True)
    shutil.rmtree(folder / "live")


def mails_in(environment: Environment) -> list[str]:
    return [name for name, _ in environment.simulation.world[EmailState].emails.items()]


def mails(folder: Path) -> list[str]:
    with recovered(folder) as environment:
        return mails_in(environment)


async def test_a_torn_append_is_cut_off_and_logged_and_all_before_it_is_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await leave_files_with(tmp_path, ["a", "b", "c"])
    segment = last_segment(tmp_path)
    os.truncate(segment, segment.stat().st_size - 5)
    with recovered(tmp_path) as environment:
        assert mails_in(environment) == ["a", "b"]
    assert "the last append was torn" in caplog.text


@pytest.mark.parametrize("left", [0, 20, HEAD, HEAD + 20])
async def test_a_segment_without_a_whole_frame_is_empty(tmp_path: Path, left: int) -> None:
    await leave_files_with(tmp_path, ["a"])
    os.truncate(last_segment(tmp_path), left)
    assert mails(tmp_path) == []


def flip_bit(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def other_journal(folder: Path) -> None:
    segment = last_segment(folder)
    segment.write_bytes(segment.read_bytes().replace(b"concord-journal 1 ", b"concord-journal 1 0", 1))


def first_segment(folder: Path) -> Path:
    return segments_of(folder / "snapshot.json")[0].path


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "a length": (lambda folder: flip_bit(last_segment(folder), HEAD + 12), f"3: damaged at offset {HEAD}, "),
    "the head": (lambda folder: flip_bit(last_segment(folder), 3), "3: damaged at offset 0"),
    "another's journal": (other_journal, "3: damaged at offset 0"),
    "the end of a segment before the last": (
        lambda folder: flip_bit(first_segment(folder), -1),
        "1: damaged at offset .*: later segments follow",
    ),
    "a segment is missing": (lambda folder: first_segment(folder).unlink(), "3: frame 1 is missing"),
    "the snapshot is missing": (lambda folder: (folder / "snapshot.json").unlink(), "snapshot.json, is missing"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_or_incomplete_files_are_refused_with_the_place(
    damage: str, two_segments: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(two_segments, folder)
    assert mails(folder) == ["a", "b", "c", "d"]
    damage_files, message = DAMAGES[damage]
    damage_files(folder)
    with pytest.raises(StoreError, match=message):
        mails(folder)


@pytest.fixture(scope="module")
async def two_segments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files of a process that was killed after it had begun a second segment and before it wrote the snapshot."""
    live, killed = tmp_path_factory.mktemp("live"), tmp_path_factory.mktemp("killed")
    async with app_with_journal(live, new_environment()) as app, calling(app, ADMIN_KEY) as http:
        await receive(http, "a", "b")
        before = {path.name: path.read_bytes() for path in (live / "snapshot.json", last_segment(live))}
        (await http.post("/simulation/snapshot")).raise_for_status()
        await receive(http, "c", "d")
        shutil.copytree(live, killed, dirs_exist_ok=True)
    for name, content in before.items():
        (killed / name).write_bytes(content)
    return killed


@pytest.mark.parametrize("made_by", ["snapshot", "clear"])
async def test_frames_older_than_the_snapshot_are_not_applied_again(made_by: str, tmp_path: Path) -> None:
    live, killed, environment = tmp_path / "live", tmp_path / "killed", new_environment()
    live.mkdir()
    async with app_with_journal(live, environment) as app, calling(app, ADMIN_KEY) as http:
        await receive(http, "a", "b")
        old = last_segment(live)
        content = old.read_bytes()
        (await http.post(f"/simulation/{made_by}")).raise_for_status()
        assert not segments_of(live / "snapshot.json")
        await receive(http, "c")
        shutil.copytree(live, killed)
        before = everything(environment)
    (killed / old.name).write_bytes(content)
    with recovered(killed) as again:
        assert everything(again) == before
        assert mails_in(again) == mails_in(environment)
    store = Store(killed / "snapshot.json")
    app = create_app(store.recover(0), EnvironmentSettings(), store)
    async with app.router.lifespan_context(app):
        assert not segments_of(killed / "snapshot.json")
    store.close()


async def test_a_stopped_process_leaves_only_a_snapshot(tmp_path: Path) -> None:
    async with app_with_journal(tmp_path, new_environment()) as app, calling(app, ADMIN_KEY) as http:
        await receive(http, "a")
    assert not segments_of(tmp_path / "snapshot.json")
    assert mails(tmp_path) == ["a"]


def test_a_snapshot_of_version_1_is_read(tmp_path: Path) -> None:
    snapshot = json.loads(capture_all(new_environment(seed=7)).snapshot("", 0))
    for name in ("journal", "frame", "webhooks"):
        del snapshot[name]
    (tmp_path / "snapshot.json").write_text(json.dumps({**snapshot, "version": 1}))
    with recovered(tmp_path) as environment:
        assert everything(environment) == everything(new_environment(seed=7))


def test_files_in_use_are_refused_to_another(tmp_path: Path) -> None:
    with recovered(tmp_path), pytest.raises(StoreError, match="another process"):
        Store(tmp_path / "snapshot.json")
