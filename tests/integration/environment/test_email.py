"""Mail over HTTP: an agent's mail waits for simulated time, is sent in the user's name, and joins its thread."""

import httpx


async def send(caller: httpx.AsyncClient, **fields: object) -> httpx.Response:
    return await caller.post("/email/send", json={"to_addresses": ["bob@example.com"], **fields})


async def receive(controller: httpx.AsyncClient, **fields: object) -> str:
    body = {"from_address": "bob@example.com", "to_addresses": ["user@example.com"], **fields}
    answer = await controller.post("/email/receive", json=body)
    assert answer.status_code == 200, answer.text
    state = (await controller.get("/email/state")).json()
    return str(next(iter(state["emails"])))


async def test_an_agents_mail_is_pending_until_time_advances(
    controller: httpx.AsyncClient, agent: httpx.AsyncClient
) -> None:
    answer = (await send(agent, subject="Hello", body_text="there")).json()
    assert answer["status"] == "pending"
    assert (await agent.get("/email/state")).json()["total_email_count"] == 0

    advanced = (await controller.post("/simulator/time/advance", json={"seconds": 1})).json()

    assert (advanced["events_executed"], advanced["events_failed"]) == (1, 0)
    state = (await agent.get("/email/state")).json()
    (mail,) = state["emails"].values()
    assert mail["folder"] == "sent"
    assert mail["from_address"] == state["user_email_address"]


async def test_a_controller_mail_is_delivered_at_once(controller: httpx.AsyncClient) -> None:
    await receive(controller, subject="Hi")
    assert (await controller.get("/email/state")).json()["unread_count"] == 1


async def test_a_mail_from_another_address_is_refused_and_the_refusal_names_the_users(agent: httpx.AsyncClient) -> None:
    answer = await send(agent, from_address="boss@example.com")
    assert answer.status_code == 403
    assert "user@example.com" in answer.json()["detail"]


async def test_a_reply_joins_the_thread_of_the_mail_it_answers(
    controller: httpx.AsyncClient, agent: httpx.AsyncClient
) -> None:
    parent = await receive(controller, subject="Plan", message_id="plan@example.com")
    await send(agent, subject="Re: Plan", in_reply_to=parent)
    await controller.post("/simulator/time/advance", json={"seconds": 1})

    state = (await agent.get("/email/state")).json()

    (thread,) = state["threads"].values()
    assert thread["message_count"] == 2
    reply = next(mail for mail in state["emails"].values() if mail["folder"] == "sent")
    assert reply["references"] == [parent]


async def test_a_mail_with_a_later_sending_time_is_received_then(controller: httpx.AsyncClient) -> None:
    body = {"from_address": "bob@example.com", "to_addresses": ["user@example.com"], "subject": "Later"}
    answer = (await controller.post("/email/receive", json={**body, "sent_at": "2026-01-01T10:00:00Z"})).json()
    assert answer["status"] == "pending"
    await controller.post("/simulator/time/advance", json={"seconds": 3600})
    (mail,) = (await controller.get("/email/state")).json()["emails"].values()
    assert mail["received_at"] == "2026-01-01T10:00:00Z"


async def test_a_mail_to_oneself_is_in_sent_and_in_the_inbox(
    controller: httpx.AsyncClient, agent: httpx.AsyncClient
) -> None:
    await send(agent, to_addresses=["user@example.com"], subject="Note to self")
    await controller.post("/simulator/time/advance", json={"seconds": 1})
    state = (await agent.get("/email/state")).json()
    assert state["folder_counts"]["sent"] == state["folder_counts"]["inbox"] == 1
    assert len(state["threads"]) == 1


async def test_marking_an_unknown_mail_as_read_changes_nothing_and_names_the_id(
    controller: httpx.AsyncClient, agent: httpx.AsyncClient
) -> None:
    for caller, status in ((agent, "pending"), (controller, "executed")):
        answer = await caller.post("/email/read", json={"message_id": "nothing"})
        assert (answer.status_code, answer.json()["status"]) == (200, status)
        assert answer.json()["message"].endswith("ignored, because there is no such id: nothing")


async def test_mails_are_found_by_sender_folder_label_text_and_flag(
    controller: httpx.AsyncClient, agent: httpx.AsyncClient
) -> None:
    urgent = await receive(controller, subject="Budget", body_text="numbers", from_address="eve@example.com")
    await controller.post("/simulator/time/advance", json={"seconds": 60})
    await receive(controller, subject="Lunch", labels=["food"])
    await agent.post("/email/star", json={"message_ids": [urgent]})
    await controller.post("/simulator/time/advance", json={"seconds": 1})

    async def found(**query: object) -> list[str]:
        answer = (await agent.post("/email/query", json=query)).json()
        return [mail["subject"] for mail in answer["emails"]]

    assert await found(from_address="EVE@") == ["Budget"]
    assert await found(label="food") == ["Lunch"]
    assert await found(search="number") == ["Budget"]
    assert await found(is_starred=True) == ["Budget"]
    assert await found(folder="inbox", sort_by="subject", sort_order="asc") == ["Budget", "Lunch"]
    assert await found(is_read=False, limit=1) == ["Budget"]
    assert await found(is_read=False, limit=1, sort_by="date") == ["Lunch"]
    assert await found(labels=["food", "drinks"]) == ["Lunch"]
    assert await found(subject_contains="UDG") == ["Budget"]
    assert await found(subject_contains="u", from_address="eve") == ["Budget"]
    assert await found(folder="trash") == []
