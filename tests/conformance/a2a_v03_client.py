"""A client of A2A 0.3, the release that the platform's clients use. It runs in an environment with that release alone.

`a2a_v03_client.py URL send|stream [JSONRPC|HTTP+JSON]` reads a text from standard input, sends it as a message with
one text part, and prints the answer as one JSON object. It makes the same SDK calls as the platform's client.
"""

import asyncio
import json
import sys
from uuid import uuid4

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import Message, Part, Role, Task, TextPart


async def main(url: str, *, streaming: bool, binding: str, text: str) -> None:
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
                print(json.dumps({"kind": "message"}))
                return
            task, update = event
            updates.append(None if update is None else update.kind)
        assert task is not None
        said = task.status.message.parts if task.status.message else []
        print(
            json.dumps(
                {
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
            )
        )


binding = sys.argv[3] if len(sys.argv) > 3 else "JSONRPC"
asyncio.run(main(sys.argv[1], streaming=sys.argv[2] == "stream", binding=binding, text=sys.stdin.read()))
