"""Headers through the proxy: hop-by-hop headers and headers with secrets are removed."""

from concord_gateway.proxy.carrier import to_callee, to_caller

TOKEN, CONTEXT = "concord_eyJx.y.z", "00-1-2-01"


def test_a_callers_headers_pass_with_an_added_trace_context() -> None:
    sent = [(b"content-type", b"application/json"), (b"a2a-extensions", b"x"), (b"authorization", b"Bearer theirs")]
    assert to_callee(sent, TOKEN, CONTEXT) == [*sent, (b"accept-encoding", b"identity"), (b"traceparent", b"00-1-2-01")]


def test_the_trace_context_of_the_call_replaces_the_callers_own() -> None:
    sent = [(b"traceparent", b"00-own-01"), (b"tracestate", b"own=1")]
    contexts = [each for each in to_callee(sent, TOKEN, CONTEXT) if each[0].startswith(b"trace")]
    assert contexts == [(b"traceparent", CONTEXT.encode())]


def test_the_trace_context_of_a_request_that_is_not_a_call_passes() -> None:
    sent = [(b"traceparent", b"00-own-01"), (b"tracestate", b"own=1")]
    assert to_callee(sent, TOKEN, None)[:2] == sent


def test_hop_by_hop_headers_and_headers_with_the_token_are_removed() -> None:
    own = [b"host", b"content-length", b"connection", b"transfer-encoding", b"accept-encoding", b"cookie", b"expect"]
    secret = [(b"authorization", f"Bearer {TOKEN}".encode()), (b"referer", f"http://x/a2a/{TOKEN}/b/".encode())]
    assert to_callee([*((name, b"x") for name in own), *secret], TOKEN, None) == [(b"accept-encoding", b"identity")]


def test_a_callees_headers_pass_without_those_that_bypass_the_proxy() -> None:
    sent = [(b"Content-Type", b"text/event-stream"), (b"Retry-After", b"7"), (b"WWW-Authenticate", b"Basic")]
    own = [
        (b"Location", b"http://agent/"),
        (b"Set-Cookie", b"a=b"),
        (b"Connection", b"close"),
        (b"Content-Length", b"1"),
    ]
    assert to_caller([*sent, *own]) == [(name.lower(), value) for name, value in sent]
