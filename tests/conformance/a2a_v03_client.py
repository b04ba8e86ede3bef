"""A client of A2A 0.3, the release that the platform's clients use. It runs in an environment with that release alone.

Each line that it reads is a JSON list of a URL, `send` or `stream`, `JSONRPC` or `HTTP+JSON`, and a text. It sends the
text as a message with one text part, and prints the answer as one JSON object in a line. It makes the same SDK calls as
the platform's client.
"""

import asyncio
import json
import sys
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, Task, TextPart


async def answer_to(url: str, *, streaming: bool, binding: str, text: str) -> dict[str, object]:
    async with httpx.AsyncClient(timeout=300) as http:
        card = await A2ACardResolver(httpx_client=http, base_url=url).get_agent_card()
        config = ClientConfig(httpx_client=http, streaming=streaming, supported_transports=[binding])
        client = ClientFactory(config).create(card)
        message = Message(
            kind="message",
            role=Role.user,
            parts=[Part(TextPart(kind="text", text=text))],
            message_id=uuid4().hex,
            context_id=None,
        )
        updates = []
        task: Task | None = None
        async for event in client.send_message(message):
            if isinstance(event, Message):
                return {"kind": "message"}
            task, update = event
            updates.append(None if update is None else update.kind)
        assert task is not None
        said = task.status.message.parts if task.status.message else []
        return {
            "kind": "task",
            "card_url": card.url,
            "protocol_version": card.protocol_version,
            "streaming": card.capabilities.streaming,
            "updates": updates,
            "state": task.status.state.value,
            "status": [part.root.text for part in said if isinstance(part.root, TextPart)],
            "artifacts": [
                [part.root.model_dump(mode="json", exclude_none=True) for part in artifact.parts]
                for artifact in task.artifacts or []
            ],
        }


for line in sys.stdin:
    url, mode, binding, text = json.loads(line)
    print(json.dumps(asyncio.run(answer_to(url, streaming=mode == "stream", binding=binding, text=text))), flush=True)
