"""Push notifications: what webhooks get, when a request is repeated, and which URLs get none."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from ipaddress import ip_network

import httpx
import pytest
from a2a.server.cluster.version import TaskVersion
from a2a.server.context import ServerCallContext
from a2a.types import a2a_pb2 as pb
from a2a.utils.errors import InvalidParamsError
from fastapi import FastAPI, Request, Response
from google.protobuf.json_format import ParseDict

from concord.a2a.push import Notifications, Retries, Webhooks
from concord.a2a.task_store import DurableTaskStore
from concord.storage.connection import Storage, connect
from concord.storage.redis.tasks import MAX_WEBHOOKS
from concord.trust.urls import AllowedHosts, DeclaredHosts, PeerUrls
from tests.kit.serving import eventually, listening, replying, reserved, served, url_of

RETRIES = Retries(pauses_s=(0.01, 0.02), timeout_s=60, closing_s=60)
LOOPBACK = PeerUrls([ip_network("127.0.0.0/8")])
BY_1_0 = ServerCallContext(state={"headers": {"a2a-version": "1.0"}})
BY_0_3 = ServerCallContext()
SECRET = "s3cret-token-of-a-client"


@dataclass
class Receiver:
    """A webhook that keeps the requests it gets, and answers with `statuses` in turn, then 200."""

    statuses: list[int] = field(default_factory=list)
    location: str = ""
    got: list[tuple[str, dict[str, str], dict[str, object]]] = field(default_factory=list)

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.post("/{path:path}")
        async def receive(request: Request) -> Response:
            target = f"{request.url.path}?{request.url.query}"
            self.got.append((target, dict(request.headers), await request.json()))
            status = self.statuses.pop(0) if self.statuses else 200
            return Response(status_code=status, headers={"location": self.location} if self.location else {})

        return app

    @property
    def states(self) -> list[str]:
        """The states of the task in the events that came."""
        return [str(body["statusUpdate"]["status"]["state"]) for _, _, body in self.got]  # type: ignore[index]


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


@pytest.fixture
async def webhooks(storage: Storage) -> Webhooks:
    return Webhooks(storage.webhooks(), LOOPBACK.pin_webhook)


@pytest.fixture
async def notifications(storage: Storage, webhooks: Webhooks) -> AsyncIterator[Notifications]:
    sender = Notifications(webhooks, storage.tasks(lease_s=5, keep_s=100), RETRIES)
    yield sender
    await sender.aclose()


def config(url: str, **fields: object) -> pb.TaskPushNotificationConfig:
    return ParseDict({"url": url, **fields}, pb.TaskPushNotificationConfig())


def status(state: "pb.TaskState", text: str = "") -> pb.TaskStatusUpdateEvent:
    message = pb.Message(message_id="m", role=pb.Role.ROLE_AGENT, parts=[pb.Part(text=text)])
    return pb.TaskStatusUpdateEvent(task_id="t", context_id="c", status=pb.TaskStatus(state=state, message=message))


WORKING = status(pb.TaskState.TASK_STATE_WORKING)
COMPLETED = status(pb.TaskState.TASK_STATE_COMPLETED)


class TestDelivery:
    async def test_events_come_in_order_with_the_clients_secrets_in_the_headers_of_the_specification(
        self, webhooks: Webhooks, notifications: Notifications
    ) -> None:
        receiver = Receiver()
        async with served(receiver.app()) as url:
            secret = {"token": SECRET, "authentication": {"scheme": "Bearer", "credentials": "abc.def"}}
            await webhooks.set_info("t", config(f"{url}/hook/?for=me", **secret), BY_1_0)
            await notifications.send_notification("t", WORKING)
            await notifications.send_notification("t", COMPLETED)
            await eventually(lambda: receiver.states[-1:] == ["TASK_STATE_COMPLETED"])
        target, headers, body = receiver.got[-1]
        assert target == "/hook/?for=me"
        assert (headers["x-a2a-notification-token"], headers["authorization"]) == (SECRET, "Bearer abc.def")
        assert headers["content-type"] == "application/a2a+json"
        assert body["statusUpdate"]["taskId"] == "t"  # type: ignore[index]

    async def test_an_event_that_comes_while_the_connection_is_being_closed_is_delivered_too(
        self, webhooks: Webhooks, notifications: Notifications, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        closing = asyncio.Event()

        class SlowToClose(httpx.AsyncClient):
            async def __aexit__(self, *error: object) -> None:
                closing.set()
                await asyncio.sleep(0.2)
                await self.aclose()

        monkeypatch.setattr("concord.a2a.push.http_client", lambda timeout: SlowToClose(timeout=timeout))
        receiver = Receiver()
        async with served(receiver.app()) as url:
            await webhooks.set_info("t", config(url), BY_1_0)
            await notifications.send_notification("t", WORKING)
            await closing.wait()
            await notifications.send_notification("t", COMPLETED)
            await eventually(lambda: receiver.states == ["TASK_STATE_WORKING", "TASK_STATE_COMPLETED"])

    @pytest.mark.parametrize("by", [BY_0_3, ServerCallContext(state={"headers": {"a2a-version": "0.3"}})])
    async def test_a_client_of_0_3_gets_the_whole_task(
        self, storage: Storage, webhooks: Webhooks, notifications: Notifications, by: ServerCallContext
    ) -> None:
        task = pb.Task(id="t", context_id="c", status=COMPLETED.status)
        store = DurableTaskStore(storage.tasks(lease_s=5, keep_s=100))
        await store.save(task, event=None, prev=None, prev_version=TaskVersion.MISSING, context=BY_0_3)
        receiver = Receiver()
        async with served(receiver.app()) as url:
            await webhooks.set_info("t", config(url), by)
            await notifications.send_notification("t", COMPLETED)
            await eventually(lambda: bool(receiver.got))
        body = receiver.got[0][2]
        assert (body["kind"], body["id"], body["status"]["state"]) == ("task", "t", "completed")  # type: ignore[index]

    async def test_a_task_does_not_wait_for_a_webhook_that_never_answers(
        self, webhooks: Webhooks, notifications: Notifications
    ) -> None:
        async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        async with listening(silent) as url:
            await webhooks.set_info("t", config(url), BY_1_0)
            async with asyncio.timeout(RETRIES.timeout_s):
                for _ in range(100):
                    await notifications.send_notification("t", WORKING)

    async def test_a_compressed_answer_counts_as_delivered(
        self, webhooks: Webhooks, notifications: Notifications
    ) -> None:
        requests = 0

        async def compressing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal requests
            await reader.readuntil(b"\r\n\r\n")
            requests += 1
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            await writer.drain()
            writer.close()

        async with listening(compressing) as url:
            await webhooks.set_info("t", config(url), BY_1_0)
            for _ in range(2):
                await notifications.send_notification("t", COMPLETED)
            await notifications.aclose()
        assert requests == 2

    @pytest.mark.parametrize("status_code", [500, 503, 429, 408])
    async def test_a_request_is_repeated_after_a_transient_fault(
        self, webhooks: Webhooks, notifications: Notifications, status_code: int
    ) -> None:
        receiver = Receiver([status_code, status_code])
        async with served(receiver.app()) as url:
            await webhooks.set_info("t", config(url), BY_1_0)
            await notifications.send_notification("t", COMPLETED)
            await eventually(lambda: len(receiver.got) == 3)

    async def test_a_receiver_that_refuses_connections_gets_the_notification_when_it_is_back(
        self, webhooks: Webhooks, storage: Storage
    ) -> None:
        insistent = Notifications(
            webhooks, storage.tasks(lease_s=5, keep_s=100), Retries(pauses_s=(0.1,) * 600, timeout_s=0.5)
        )
        receiver, place = Receiver(), reserved()
        await webhooks.set_info("t", config(url_of(place)), BY_1_0)
        await insistent.send_notification("t", COMPLETED)
        await asyncio.sleep(0.15)
        async with served(receiver.app(), place):
            await eventually(lambda: bool(receiver.got))
        await insistent.aclose()

    async def test_the_end_of_a_task_does_not_wait_for_progress_that_cannot_be_delivered(
        self, webhooks: Webhooks, storage: Storage
    ) -> None:
        slow = Notifications(webhooks, storage.tasks(lease_s=5, keep_s=100), Retries(pauses_s=(3600,)))
        receiver = Receiver([500])
        async with served(receiver.app()) as url:
            await webhooks.set_info("t", config(url), BY_1_0)
            await slow.send_notification("t", WORKING)
            await eventually(lambda: len(receiver.got) == 1)
            await slow.send_notification("t", COMPLETED)
            await eventually(lambda: "TASK_STATE_COMPLETED" in receiver.states)
            await slow.aclose()


class TestGivingUp:
    @pytest.mark.parametrize("status_code", [400, 401, 404])
    async def test_a_refused_request_is_not_repeated(
        self, webhooks: Webhooks, notifications: Notifications, status_code: int
    ) -> None:
        receiver = Receiver([status_code])
        async with served(receiver.app()) as url:
            await webhooks.set_info("t", config(url), BY_1_0)
            await notifications.send_notification("t", COMPLETED)
            await notifications.send_notification("t", COMPLETED)
            await eventually(lambda: len(receiver.got) == 2)

    async def test_attempts_are_bounded(self, webhooks: Webhooks, notifications: Notifications) -> None:
        receiver = Receiver([500] * 100)
        async with served(receiver.app()) as url:
            await webhooks.set_info("t", config(url), BY_1_0)
            await notifications.send_notification("t", COMPLETED)
            await notifications.aclose()
        assert len(receiver.got) == len(RETRIES.pauses_s) + 1

    async def test_a_webhook_that_is_gone_is_deleted(self, webhooks: Webhooks, notifications: Notifications) -> None:
        async with listening(replying("410 Gone")) as url:
            await webhooks.set_info("t", config(url), BY_1_0)
            await notifications.send_notification("t", WORKING)
            await notifications.aclose()
        assert await webhooks.of("t") == []

    async def test_a_deleted_webhook_gets_no_further_attempt(self, webhooks: Webhooks, storage: Storage) -> None:
        sender = Notifications(webhooks, storage.tasks(lease_s=5, keep_s=100), Retries(pauses_s=(0.2,) * 10))
        receiver = Receiver([500] * 100)
        async with served(receiver.app()) as url:
            await webhooks.set_info("t", config(url), BY_1_0)
            await sender.send_notification("t", COMPLETED)
            await eventually(lambda: bool(receiver.got))
            await webhooks.delete_info("t", BY_1_0)
            await sender.aclose()
        assert len(receiver.got) <= 2

    async def test_a_redirect_is_not_followed(self, webhooks: Webhooks, notifications: Notifications) -> None:
        private, public = Receiver(), Receiver([307] * 3)
        async with served(private.app()) as inside, served(public.app()) as outside:
            public.location = f"{inside}/admin"
            await webhooks.set_info("t", config(outside), BY_1_0)
            await notifications.send_notification("t", COMPLETED)
            await notifications.aclose()
        assert (len(public.got), private.got) == (1, [])

    async def test_no_log_contains_a_secret_or_a_url(
        self, webhooks: Webhooks, notifications: Notifications, caplog: pytest.LogCaptureFixture
    ) -> None:
        async with listening(replying("500 No")) as url:
            await webhooks.set_info("t", config(f"{url}?key={SECRET}", token=SECRET), BY_1_0)
            await notifications.send_notification("t", COMPLETED)
            await notifications.aclose()
        assert "a notification is dropped after 3 attempts" in caplog.text
        assert SECRET not in caplog.text


class TestRules:
    @pytest.mark.parametrize(
        ("url", "reason"),
        [
            ("http://10.1.2.3/", "not in an allowed network"),
            ("http://169.254.169.254/latest", "not in an allowed network"),
            ("http://[::1]:6379/", "not in an allowed network"),
            ("ftp://example.com/", "not http or https"),
            ("http://user:pass@example.com/", "contains credentials"),
            (f"http://127.0.0.1/{'x' * 3000}", "too long"),
        ],
    )
    async def test_a_webhook_at_a_forbidden_address_is_refused(self, webhooks: Webhooks, url: str, reason: str) -> None:
        with pytest.raises(InvalidParamsError, match=reason):
            await webhooks.set_info("t", config(url), BY_1_0)
        assert await webhooks.of("t") == []

    async def test_a_listed_network_does_not_open_the_assessors_own_ports(self, storage: Storage) -> None:
        own = DeclaredHosts(AllowedHosts((ip_network("127.0.0.0/8"),)), own=frozenset({("127.0.0.1", 6379)}))
        urls = PeerUrls([ip_network("127.0.0.0/8")], declared=own)
        with pytest.raises(InvalidParamsError, match="own addresses"):
            await Webhooks(storage.webhooks(), urls.pin_webhook).set_info("t", config("http://127.0.0.1:6379"), BY_1_0)

    async def test_an_address_that_changes_to_a_private_one_gets_nothing(self, storage: Storage) -> None:
        answers = iter([["192.0.2.1"], ["127.0.0.1"]])

        async def rebinding(_: str, __: int) -> list[str]:
            return next(answers)

        receiver = Receiver()
        urls = PeerUrls([ip_network("192.0.2.0/24")], rebinding)
        hooks = Webhooks(storage.webhooks(), urls.pin_webhook)
        sender = Notifications(hooks, storage.tasks(lease_s=5, keep_s=100), RETRIES)
        async with served(receiver.app()) as url:
            await hooks.set_info("t", config(url.replace("127.0.0.1", "rebinding.example")), BY_1_0)
            await sender.send_notification("t", COMPLETED)
            await sender.aclose()
        assert receiver.got == []

    @pytest.mark.parametrize(
        "fields",
        [
            {"token": "a\r\nx-admin: 1"},
            {"token": "x" * 5000},
            {"id": "x" * 200},
            {"authentication": {"scheme": "Bearer x", "credentials": "y"}},
            {"authentication": {"scheme": "Bearer", "credentials": "y\nz: 1"}},
        ],
    )
    async def test_a_config_that_cannot_be_sent_in_headers_is_refused(
        self, webhooks: Webhooks, fields: dict[str, object]
    ) -> None:
        with pytest.raises(InvalidParamsError):
            await webhooks.set_info("t", config("http://127.0.0.1/", **fields), BY_1_0)

    async def test_a_task_has_a_bounded_number_of_webhooks(self, webhooks: Webhooks) -> None:
        for number in range(MAX_WEBHOOKS):
            await webhooks.set_info("t", config("http://127.0.0.1/", id=f"hook{number}"), BY_1_0)
        await webhooks.set_info("t", config("http://127.0.0.1/other", id="hook0"), BY_1_0)
        with pytest.raises(InvalidParamsError, match="at most 8 webhooks"):
            await webhooks.set_info("t", config("http://127.0.0.1/", id="one-more"), BY_1_0)

    async def test_a_config_is_shown_without_its_secrets(self, webhooks: Webhooks) -> None:
        secret = {"token": SECRET, "authentication": {"scheme": "Bearer", "credentials": SECRET}}
        shown = [await webhooks.set_info("t", config("http://127.0.0.1/", **secret), BY_1_0)]
        shown += await webhooks.get_info("t", BY_1_0)
        assert [(each.id, each.authentication.scheme, SECRET in str(each)) for each in shown] == [
            ("t", "Bearer", False)
        ] * 2
