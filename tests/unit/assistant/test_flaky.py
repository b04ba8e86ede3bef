"""Of a flaky environment's calls, each third one is refused before it executes, and may be sent again at once."""

import httpx

from concord_assistant.environment.flaky import FlakyTransport, is_refused


def test_each_third_call_is_refused_but_none_over_mcp() -> None:
    assert [number for number in range(1, 10) if is_refused(number, "email/send")] == [3, 6, 9]
    assert [number for number in range(1, 10) if is_refused(number, "/mcp")] == []


async def test_a_refused_call_reaches_nobody_and_says_that_it_may_be_sent_again() -> None:
    reached: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        reached.append(request.url.path)
        return httpx.Response(200)

    transport = FlakyTransport(httpx.MockTransport(answer))
    async with httpx.AsyncClient(transport=transport, base_url="http://environment") as http:
        answers = [await http.post(f"/{number}") for number in range(1, 5)]
    assert [each.status_code for each in answers] == [200, 200, 503, 200]
    assert answers[2].headers["retry-after"] == "0"
    assert reached == ["/1", "/2", "/4"]
