"""The address book over HTTP: favorites, groups, merging, and what its state and its queries tell."""

from typing import Any

import httpx
import pytest

PHONE = {"identifier_type": "phone", "value": "+14155550132", "label": None}
EMAIL = {"identifier_type": "email", "value": "ali@example.com", "label": None}


async def post(caller: httpx.AsyncClient, path: str, **body: object) -> Any:  # noqa: ANN401 - JSON
    answer = await caller.post(f"/contacts/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def state(caller: httpx.AsyncClient, **params: str) -> dict[str, Any]:
    found: dict[str, Any] = (await caller.get("/contacts/state", params=params)).json()
    return found


@pytest.fixture
async def book(controller: httpx.AsyncClient) -> httpx.AsyncClient:
    """An address book with Alice, who has a phone, and Ali, who has an email address."""
    alice = {"contact_id": "alice", "first_name": "Alice", "identifiers": [PHONE], "groups": ["Friends"]}
    ali = {"contact_id": "ali", "first_name": "Ali", "company": "Northwind", "identifiers": [EMAIL], "groups": ["Work"]}
    await post(controller, "create", **alice)
    await post(controller, "create", **ali, is_favorite=True)
    return controller


async def test_a_contact_becomes_a_favorite_and_stops_being_one(book: httpx.AsyncClient) -> None:
    for path, favorites in (("favorite", 2), ("unfavorite", 1)):
        await post(book, path, contact_id="alice")
        assert (await state(book))["favorites_count"] == favorites


async def test_a_contact_joins_and_leaves_groups(book: httpx.AsyncClient) -> None:
    await post(book, "group/add", contact_id="alice", group_name="Work")
    await post(book, "group/add", contact_id="alice", group_name="Work")
    await post(book, "group/remove", contact_id="alice", group_name="Friends")
    found = await state(book)
    assert found["contacts"]["alice"]["groups"] == ["Work"]
    assert found["groups"] == ["Work"]
    assert (await state(book, compact="true"))["groups"] == {"Work": 2}


class TestMerging:
    async def test_leaves_one_contact_with_what_both_have(self, book: httpx.AsyncClient) -> None:
        await post(book, "merge", primary_contact_id="alice", secondary_contact_id="ali")
        found = await state(book)
        merged = found["contacts"]["alice"]
        assert found["total_count"] == 1
        assert (merged["first_name"], merged["company"], merged["is_favorite"]) == ("Alice", "Northwind", True)
        assert merged["identifiers"] == [PHONE, EMAIL]
        assert merged["groups"] == ["Friends", "Work"]

    async def test_is_undone_as_one_step(self, book: httpx.AsyncClient) -> None:
        before = (await state(book))["contacts"]
        await post(book, "merge", primary_contact_id="alice", secondary_contact_id="ali")
        await book.post("/simulation/undo", json={"count": 1})
        assert (await state(book))["contacts"] == before

    @pytest.mark.parametrize(("secondary", "status"), [("alice", 409), ("nobody", 404)])
    async def test_with_itself_or_with_nobody_is_refused(
        self, book: httpx.AsyncClient, secondary: str, status: int
    ) -> None:
        body = {"primary_contact_id": "alice", "secondary_contact_id": secondary}
        assert (await book.post("/contacts/merge", json=body)).status_code == status
        assert (await state(book))["total_count"] == 2


async def test_single_identifiers_and_addresses_are_added_and_removed(book: httpx.AsyncClient) -> None:
    home, work = ({"street": street, "label": None} for street in ("Home Street", "Work Street"))
    await post(
        book, "update", contact_id="alice", add_addresses=[home, work], add_identifiers=[EMAIL | {"value": "a@b"}]
    )
    spelled = {"identifier_type": "phone", "value": "+1 (415) 555-0132"}
    await post(book, "update", contact_id="alice", remove_addresses=[home], remove_identifiers=[spelled])
    alice = (await state(book))["contacts"]["alice"]
    assert [each["street"] for each in alice["addresses"]] == ["Work Street"]
    assert [each["value"] for each in alice["identifiers"]] == ["a@b"]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"has_phone": True}, ["Alice"]),
        ({"has_phone": False}, ["Ali"]),
        ({"has_email": True}, ["Ali"]),
        ({"identifier_type": "phone", "identifier_value": "+1 415 555 0132"}, ["Alice"]),
        ({"identifier_value": "ALI@"}, ["Ali"]),
    ],
)
async def test_a_query_finds_contacts_by_their_identifiers(
    book: httpx.AsyncClient, query: dict[str, object], found: list[str]
) -> None:
    answer = await post(book, "query", **query)
    assert [contact["first_name"] for contact in answer["contacts"]] == found


async def test_the_compact_state_counts_and_names_the_contacts_updated_last(book: httpx.AsyncClient) -> None:
    await book.post("/simulator/time/advance", json={"seconds": 1})
    await post(book, "block", contact_id="ali")
    compact = await state(book, compact="true")
    assert (compact["total_contacts"], compact["favorites_count"], compact["blocked_count"]) == (2, 1, 1)
    assert compact["recent_contacts"][0] == {"contact_id": "ali", "name": "Ali"}
    assert "contacts" not in compact
