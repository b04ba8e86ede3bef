"""Text messages over HTTP: phone numbers keep their spelling and compare without it; reactions come and go."""

from typing import Any

import httpx
import pytest

from concord_assistant.scenario.selectors import same

BOB = "+14155550132"
SPELLINGS_OF_BOB = ("+1 (415) 555-0132", "+1.415.555.0132", "+1-415-555-0132", "+1 415 555 0132")


async def post(caller: httpx.AsyncClient, path: str, **body: object) -> Any:  # noqa: ANN401 - JSON
    answer = await caller.post(path, json=body)
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


async def receive(controller: httpx.AsyncClient, from_number: str = BOB, **fields: object) -> dict[str, Any]:
    """Delivers a text message, and returns the user's latest one."""
    await post(controller, "/sms/receive", from_number=from_number, body="Hi", **fields)
    state = (await controller.get("/sms/state")).json()
    message: dict[str, Any] = next(iter(state["messages"].values()))
    return message


async def reactions(caller: httpx.AsyncClient, message_id: str) -> list[tuple[str, str]]:
    message = (await caller.get("/sms/state")).json()["messages"][message_id]
    return [(each["phone_number"], each["emoji"]) for each in message["reactions"]]


class TestPhoneNumbers:
    @pytest.mark.parametrize("spelling", [*SPELLINGS_OF_BOB, "12345", "(415) 555-0132", "NORTHWIND"])
    async def test_keep_their_spelling(self, controller: httpx.AsyncClient, spelling: str) -> None:
        assert (await receive(controller, spelling))["from_number"] == spelling

    @pytest.mark.parametrize("spelling", SPELLINGS_OF_BOB)
    async def test_of_one_person_share_a_conversation_and_a_query(
        self, controller: httpx.AsyncClient, spelling: str
    ) -> None:
        first = await receive(controller)
        await post(controller, "/sms/send", to_numbers=[spelling], body="Hello")

        found = await post(controller, "/sms/query", phone_number=spelling)

        assert {message["thread_id"] for message in found["messages"]} == {first["thread_id"]}
        assert found["total_count"] == 2

    async def test_of_one_person_are_one_participant(self, controller: httpx.AsyncClient) -> None:
        await post(controller, "/sms/group", participant_numbers=[BOB, *SPELLINGS_OF_BOB], thread_id="group")
        (group,) = (await controller.get("/sms/state")).json()["conversations"].values()
        assert [each["phone_number"] for each in group["participants"]] == [BOB, "+15550000000"]

    async def test_of_another_country_are_another_person(self, controller: httpx.AsyncClient) -> None:
        for number in (BOB, "+44 4155550132", "4155550132"):
            await receive(controller, number)
        assert len((await controller.get("/sms/state")).json()["conversations"]) == 3

    @pytest.mark.parametrize("spelling", ["+1 (555) 000-0000", "+15550000000 ext. 7", "+１５５５０００００００"])  # noqa: RUF001
    async def test_of_the_user_are_the_users_in_any_spelling_and_show_as_the_phones(
        self, controller: httpx.AsyncClient, agent: httpx.AsyncClient, spelling: str
    ) -> None:
        await post(agent, "/sms/send", from_number=spelling, to_numbers=[BOB], body="Hello")
        await controller.post("/simulator/time/advance", json={"seconds": 1})
        (message,) = (await controller.get("/sms/state")).json()["messages"].values()
        assert message["from_number"] == "+15550000000"

    async def test_of_a_blocked_contact_are_blocked_in_any_spelling(self, controller: httpx.AsyncClient) -> None:
        identifiers = [{"identifier_type": "phone", "value": SPELLINGS_OF_BOB[0]}]
        await post(controller, "/contacts/create", contact_id="bob", identifiers=identifiers, is_blocked=True)
        answer = await controller.post("/sms/receive", json={"from_number": BOB, "body": "Hi"})
        assert answer.status_code == 409

    @pytest.mark.parametrize("spelling", SPELLINGS_OF_BOB)
    def test_of_one_person_are_the_same_for_evaluators(self, spelling: str) -> None:
        assert same(BOB, spelling)
        assert not same(BOB, spelling.replace("0132", "0133"))


class TestAnEmptyEmoji:
    async def test_removes_the_reactions_of_its_number_only(self, controller: httpx.AsyncClient) -> None:
        message_id = (await receive(controller))["message_id"]
        for number, emoji in ((BOB, "👍"), (BOB, "🎉"), (None, "👍")):
            await post(controller, "/sms/react", message_id=message_id, phone_number=number, emoji=emoji)

        await post(controller, "/sms/react", message_id=message_id, phone_number=SPELLINGS_OF_BOB[0], emoji="")

        assert await reactions(controller, message_id) == [("+15550000000", "👍")]

    async def test_changes_nothing_where_there_is_no_reaction(self, controller: httpx.AsyncClient) -> None:
        message_id = (await receive(controller))["message_id"]
        assert (await post(controller, "/sms/react", message_id=message_id, emoji=""))["status"] == "executed"
        assert await reactions(controller, message_id) == []

    async def test_of_an_assistant_does_not_remove_the_reactions_of_others(
        self, controller: httpx.AsyncClient, agent: httpx.AsyncClient
    ) -> None:
        message_id = (await receive(controller))["message_id"]
        await post(controller, "/sms/react", message_id=message_id, phone_number=BOB, emoji="👍")
        body = {"message_id": message_id, "phone_number": SPELLINGS_OF_BOB[1], "emoji": ""}
        assert (await agent.post("/sms/react", json=body)).status_code == 403
        assert await reactions(controller, message_id) == [(BOB, "👍")]
