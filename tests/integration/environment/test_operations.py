"""Operations: one declaration and its implementation give an operation to every part of Concord."""

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from concord_environment.modalities import email
from concord_environment.modalities.modality import Implementation
from concord_environment_client import PermissionDeniedError, UESClient
from concord_environment_client.modalities import MODALITIES
from concord_environment_client.operations import assistant_permissions
from concord_purple.assistant.model import tools_of
from tests.integration.environment.conftest import ADMIN_KEY
from tests.integration.environment.pinning import Pin, PinningCalls
from tests.integration.environment.test_mcp import connected
from tests.integration.environment.test_modalities import agent_key, calling, get, post, serving

TOY = (PinningCalls,)
PINNED = {"message_id": "m1"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("pinning")) as url:
        yield url


@pytest.fixture
def controller(url: str) -> Iterator[httpx.Client]:
    """A client with the admin key; the mailbox has one email."""
    with calling(url, ADMIN_KEY) as caller:
        post(caller, "/simulation/clear")
        post(caller, "/simulation/start", auto_advance=False)
        post(caller, "/email/receive", from_address="bob@b.example", to_addresses=["user@example.com"], **PINNED)
        yield caller
        caller.post("/simulation/stop")


def labels(controller: httpx.Client) -> list[str]:
    found: list[str] = get(controller, "/email/state")["emails"]["m1"]["labels"]
    return found


def test_a_declared_operation_has_an_endpoint_and_a_method_of_the_client(url: str, controller: httpx.Client) -> None:
    with UESClient(url, ADMIN_KEY) as ues:
        assert PinningCalls(ues).pin_email(**PINNED).status == "executed"
    post(controller, "/email/pin", **PINNED)
    assert labels(controller) == ["pinned", "pinned"]


def test_an_assistants_key_permits_a_declared_operation_and_other_keys_do_not(
    url: str, controller: httpx.Client
) -> None:
    assert set(assistant_permissions(TOY)) - set(assistant_permissions(MODALITIES)) == {"email:pin"}
    with UESClient(url, agent_key(controller, *assistant_permissions(TOY))) as ues:
        assert PinningCalls(ues).pin_email(**PINNED).status == "pending"
    with (
        UESClient(url, agent_key(controller, *assistant_permissions(MODALITIES))) as ues,
        pytest.raises(PermissionDeniedError, match="email:pin"),
    ):
        PinningCalls(ues).pin_email(**PINNED)


async def test_a_declared_operation_is_a_tool_over_mcp_and_a_tool_of_assistants(
    url: str, controller: httpx.Client
) -> None:
    async with connected(url, agent_key(controller, "email:pin")) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["email_pin"]
    (tool,) = (each for each in tools_of(TOY) if each.name == "email_pin")
    assert (tool.action, tool.schema["required"]) == ("email.pin", ["message_id"])


def test_an_operation_without_an_implementation_or_with_anothers_request_is_refused() -> None:
    with pytest.raises(TypeError, match="email does not implement pin"):
        replace(email.MODALITY, calls=PinningCalls)
    with pytest.raises(TypeError, match="Pin is no request of email_star"):
        Implementation(PinningCalls.star, Pin, email.MODALITY.implementations[0].apply)
