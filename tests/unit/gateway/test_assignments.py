"""The gateway's own assignment: the addresses that participants get with their messages."""

from pydantic import SecretStr

from concord.trust.tokens import TokenKeys
from concord_gateway.assignments import Assignments


async def no_shared_secret() -> str:
    raise AssertionError("the secret is configured")


async def no_time() -> float:
    raise AssertionError("no token is issued")


def own(collector_url: str | None) -> tuple[str | None, str | None]:
    keys = TokenKeys(SecretStr("a secret of the tests that is as long as one must be"), no_shared_secret, no_time)
    assignment = Assignments(keys, collector_url).own("a1", "t1", "s1")
    return assignment.collector_url, assignment.peers_url


def test_participants_get_the_collectors_address() -> None:
    assert own("http://green-agent:9009/") == (
        "http://green-agent:9009",
        "http://green-agent:9009/peers?assessment_id=a1",
    )


def test_participants_report_in_their_answers_if_the_collector_has_no_address() -> None:
    assert own(None) == (None, None)
