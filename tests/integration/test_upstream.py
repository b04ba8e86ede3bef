"""The proxy's HTTP client, against servers that answer correctly and incorrectly."""

import asyncio

import pytest

from concord_gateway.proxy import upstream as module
from concord_gateway.proxy.upstream import AnswerTimeoutError, UnreachableError, Upstream
from tests.kit.serving import Serve, listening


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
        assert not upstream._idle


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
