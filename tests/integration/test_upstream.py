"""The proxy's HTTP client, against servers that answer correctly and incorrectly."""

import asyncio
import gzip
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from concord.trust.urls import AllowedHosts, DeclaredHosts, PeerUrls
from concord_gateway.proxy import upstream as module
from concord_gateway.proxy.upstream import AnswerTimeoutError, UnreachableError, Upstream
from tests.kit.serving import Serve, eventually, listening

MANY = 150
"""Answers that are open at once: more than the connections that a general client allows by default."""


async def read_request(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    length = head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0]
    return head + await reader.readexactly(int(length or b"0"))


def answering(*answers: bytes, requests: list[bytes] | None = None, hang: bool = False) -> Serve:
    """Answers one connection's requests with these bytes in turn, then closes it, or keeps it open with `hang`."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for answer in answers:
            request = await read_request(reader)
            if requests is not None:
                requests.append(request)
            writer.write(answer)
            await writer.drain()
        if hang:
            await asyncio.Event().wait()

    return serve


async def post(upstream: Upstream, url: str, body: bytes = b"{}") -> tuple[int, bytes]:
    async with upstream.send("POST", url, [(b"content-type", b"application/json")], body) as answer:
        return answer.status, b"".join([piece async for piece in answer.pieces()])


def self_signed(name: str) -> tuple[bytes, bytes]:
    """A certificate of a host and its key, both in PEM."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
    dated = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    named = dated.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
    certificate = named.sign(key, hashes.SHA256())
    private = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(serialization.Encoding.PEM), key.private_bytes(serialization.Encoding.PEM, *private)


OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok"


@pytest.mark.parametrize(
    ("answer", "status", "body"),
    [
        (OK, 200, b"ok"),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n3\r\n!!!\r\n0\r\n\r\n", 200, b"ok!!!"),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil it ends", 200, b"until it ends"),
        (b"HTTP/1.0 200 OK\r\n\r\nold", 200, b"old"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, 200, b"ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
        (b"HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nbusy", 503, b"busy"),
    ],
    ids=["content length", "chunked", "until closed", "HTTP 1.0", "after 100 Continue", "no content", "error status"],
)
async def test_an_answer_is_read_to_its_end_however_its_length_is_given(
    answer: bytes, status: int, body: bytes
) -> None:
    async with listening(answering(answer)) as url, Upstream() as upstream:
        assert await post(upstream, url) == (status, body)


async def test_a_request_has_a_request_line_a_host_and_the_body() -> None:
    requests: list[bytes] = []
    async with listening(answering(OK, requests=requests)) as url, Upstream() as upstream:
        await post(upstream, f"{url}rpc?version=1", b'{"a": 1}')
    head, _, body = requests[0].partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"POST /rpc?version=1 HTTP/1.1"
    assert f"host: {url.split('/')[2]}".encode() in [line.lower() for line in lines]
    assert body == b'{"a": 1}'


async def test_a_connection_is_reused_once_its_answer_was_read() -> None:
    requests: list[bytes] = []
    async with listening(answering(OK, OK, OK, requests=requests)) as url, Upstream() as upstream:
        for _ in range(3):
            assert await post(upstream, url) == (200, b"ok")
    assert len(requests) == 3


@pytest.mark.parametrize(
    "answer",
    [b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok", OK],
    ids=["announced", "unannounced"],
)
async def test_a_connection_that_the_server_closed_is_not_reused(answer: bytes) -> None:
    async with listening(answering(answer)) as url, Upstream() as upstream:
        for _ in range(3):
            assert await post(upstream, url) == (200, b"ok")
            await asyncio.sleep(0.05)


async def test_a_connection_whose_answer_was_not_read_to_its_end_is_not_reused() -> None:
    long = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n" + b"x" * 1000
    async with listening(answering(long, OK, hang=True)) as url, Upstream() as upstream:
        for _ in range(2):
            async with upstream.send("POST", url, []) as answer:
                assert answer.status == 200


async def test_a_connection_that_was_idle_too_long_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IDLE_CONNECTION_S", 0.1)
    closed = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(OK)
        assert await reader.read() == b""
        closed.set()

    async with listening(serve) as url, Upstream() as upstream:
        await post(upstream, url)
        async with asyncio.timeout(60):
            await closed.wait()
        await eventually(lambda: not upstream._pools)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200 OK\r\na: " + b"x" * 10**6,
    ],
    ids=["nothing", "no HTTP", "truncated head", "SSH", "endless head"],
)
async def test_a_callee_that_does_not_answer_in_http_is_unreachable(answer: bytes) -> None:
    async with listening(answering(answer)) as url, Upstream() as upstream:
        with pytest.raises(UnreachableError):
            await post(upstream, url)


async def test_an_answer_shorter_than_its_content_length_raises() -> None:
    cut = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nok"
    async with listening(answering(cut)) as url, Upstream() as upstream:
        with pytest.raises(UnreachableError):
            await post(upstream, url)


async def test_a_server_that_sends_nothing_raises_silent_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ANSWER_PAUSE_S", 0.2)
    async with listening(answering(b"", hang=True)) as url, Upstream() as upstream:
        with pytest.raises(AnswerTimeoutError):
            await post(upstream, url)


async def test_an_answer_sent_before_the_request_was_read_is_received() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        await reader.read()

    async with listening(refuse) as url, Upstream() as upstream:
        assert (await post(upstream, url, b"x" * 3_000_000))[0] == 413


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/",
        "http://[::1",
        "http://127.0.0.1:99999/",
        "nonsense",
        "ftp://127.0.0.1/",
        "http:///",
        "http://127.0.0.1:1/a b\r\nx: y",
        "http://no-such-host.invalid/",
    ],
)
async def test_an_unreachable_address_raises_without_naming_it(url: str) -> None:
    async with Upstream() as upstream:
        with pytest.raises(UnreachableError) as fault:
            await post(upstream, url)
    assert "127.0.0.1" not in str(fault.value)
    assert "no-such-host" not in str(fault.value)


async def _leaving_unread(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n")
    await asyncio.Event().wait()


async def _silent_unread(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    await asyncio.Event().wait()


async def test_the_answer_of_a_callee_that_does_not_read_the_request_is_received() -> None:
    async with listening(_leaving_unread) as url, Upstream(idle_s=0.2) as upstream:
        assert (await post(upstream, url, b"x" * 30_000_000))[0] == 413


async def test_a_callee_that_reads_no_request_and_says_nothing_is_late() -> None:
    async with listening(_silent_unread) as url, Upstream(idle_s=0.2) as upstream:
        with pytest.raises(AnswerTimeoutError):
            await post(upstream, url, b"x" * 30_000_000)


async def test_a_callee_that_reads_slowly_gets_the_whole_request() -> None:
    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        left = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
        while left:
            await asyncio.sleep(0.02)
            left -= len(await reader.read(1_000_000))
        writer.write(OK)

    async with listening(slow) as url, Upstream(idle_s=0.2) as upstream:
        assert await post(upstream, url, b"x" * 30_000_000) == (200, b"ok")


async def test_an_answer_that_stalls_once_it_has_begun_is_late() -> None:
    stalling = b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nok"
    async with (
        listening(answering(stalling, hang=True)) as url,
        Upstream() as upstream,
        upstream.send("POST", url, []) as answer,
    ):
        pieces = answer.pieces(idle_s=0.1)
        assert await anext(pieces) == b"ok"
        with pytest.raises(AnswerTimeoutError):
            await anext(pieces)


async def test_many_answers_can_be_open_at_once() -> None:
    n_open, all_open = 0, asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal n_open
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n")
        n_open += 1
        if n_open == MANY:
            all_open.set()
        await all_open.wait()
        writer.write(b"0\r\n\r\n")

    async with listening(serve) as url, Upstream() as upstream:
        assert await asyncio.gather(*(post(upstream, url) for _ in range(MANY))) == [(200, b"ok")] * MANY


async def test_a_request_that_is_cancelled_closes_its_connection() -> None:
    begun, closed = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await read_request(reader)
        begun.set()
        assert await reader.read() == b""
        closed.set()

    async with listening(serve) as url, Upstream() as upstream:
        asking = asyncio.create_task(post(upstream, url))
        await begun.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        async with asyncio.timeout(60):
            await closed.wait()


async def test_requests_that_are_cancelled_at_any_step_leave_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IDLE_CONNECTION_S", 0.05)
    connected: set[int] = set()
    numbers = iter(range(10**6))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.add(number := next(numbers))
        try:
            while await reader.read(10_000):
                writer.write(OK)
        finally:
            connected.discard(number)

    async with listening(serve) as url, Upstream() as upstream:
        for passes in range(60):
            asking = asyncio.create_task(post(upstream, url))
            for _ in range(passes):
                await asyncio.sleep(0)
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        await eventually(lambda: not connected)


async def test_redirects_and_cookies_and_encodings_are_left_to_the_caller() -> None:
    moved = b"HTTP/1.1 307 Moved\r\nlocation: /elsewhere\r\nset-cookie: a=b\r\ncontent-length: 0\r\n\r\n"
    zipped = gzip.compress(b"ok")
    packed = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(zipped) + zipped
    requests: list[bytes] = []
    async with listening(answering(moved, packed, requests=requests)) as url, Upstream() as upstream:
        assert await post(upstream, url) == (307, b"")
        assert await post(upstream, url) == (200, zipped)
    sent = {line.partition(b":")[0].lower() for line in requests[1].partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]}
    assert sent == {b"host", b"content-type", b"content-length"}


async def test_no_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    async with listening(answering(OK)) as url, Upstream() as upstream:
        assert await post(upstream, url) == (200, b"ok")


async def test_an_address_of_ipv6_is_reached_and_named_in_brackets() -> None:
    requests: list[bytes] = []
    async with listening(answering(OK, requests=requests), host="::1") as url, Upstream() as upstream:
        port = url.rstrip("/").rpartition(":")[2]
        assert await post(upstream, f"http://[::1]:{port}/") == (200, b"ok")
    assert f"host: [::1]:{port}\r\n".encode() in requests[0].lower()


async def test_a_protocol_that_nobody_asked_for_is_not_taken() -> None:
    switching = b"HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n"
    async with listening(answering(switching, hang=True)) as url, Upstream() as upstream:
        with pytest.raises(UnreachableError):
            await post(upstream, url)


async def test_a_name_is_pinned_to_the_address_that_was_checked_and_stays_the_name_in_host_and_handshake(
    tmp_path: Path,
) -> None:
    certificate, key = self_signed("agent.example")
    (tmp_path / "certificate").write_bytes(certificate)
    (tmp_path / "key").write_bytes(key)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(tmp_path / "certificate", tmp_path / "key")
    asked: list[str | None] = []
    requests: list[bytes] = []
    server.sni_callback = lambda _, name, __: asked.append(name)

    async def resolve(name: str, _: int) -> list[str]:
        return {"agent.example": ["127.0.0.1"], "other.example": ["127.0.0.1"]}[name]

    urls = PeerUrls([], resolve, declared=DeclaredHosts(AllowedHosts(), on_loopback=True))
    async with Upstream(urls) as upstream, listening(answering(OK, OK, requests=requests), tls=server) as url:
        upstream._tls.load_verify_locations(tmp_path / "certificate")
        port = url.rstrip("/").rpartition(":")[2]
        assert await post(upstream, f"https://agent.example:{port}/") == (200, b"ok")
        with pytest.raises(UnreachableError, match="SSLCertVerificationError"):
            await post(upstream, f"https://other.example:{port}/")
    assert asked == ["agent.example", "other.example"]
    assert f"host: agent.example:{port}\r\n".encode() in requests[0].lower()
    assert len(requests) == 1
