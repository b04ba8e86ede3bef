"""AG2 group chats (`autogen`, up to 0.x) with a scripted model and AG2's own spans: `ag2_patterns.py TEAM - FILE`."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from autogen import ConversableAgent, LLMConfig
from autogen.agentchat import initiate_group_chat
from autogen.agentchat.group import AgentTarget, OnCondition, StringLLMCondition, TerminateTarget
from autogen.agentchat.group.patterns import AutoPattern, DefaultPattern, RoundRobinPattern
from autogen.opentelemetry import instrument_llm_wrapper, instrument_pattern

from recording import arguments, recorded


@contextmanager
def scripted(*script: str) -> Iterator[LLMConfig]:
    """A model behind OpenAI's API that says the lines of its script in order: a text, or `tool()`."""
    lines = iter(script)

    class Model(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(_completion(next(lines))).encode())

        def log_message(self, *_: Any) -> None:
            """Logs nothing."""

    server = HTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/v1"
    yield LLMConfig({"model": "scripted", "api_key": "none", "base_url": url, "price": [0, 0]})
    server.shutdown()


def _completion(line: str) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": line}
    if line.endswith("()"):
        call = {"id": line, "type": "function", "function": {"name": line.removesuffix("()"), "arguments": "{}"}}
        message |= {"content": None, "tool_calls": [call]}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [choice],
        "usage": usage,
    }


def agents(model: LLMConfig, *names: str) -> list[ConversableAgent]:
    """Agents with these names and one model."""
    return [ConversableAgent(name, description=f"The {name}.", llm_config=model) for name in names]


@contextmanager
def roundrobin() -> Iterator[tuple[Any, int]]:
    """Three agents speak in turn, four messages."""
    with scripted("A plan.", "Too long.", "A text.", "A better plan.") as model:
        team = agents(model, "planner", "critic", "writer")
        yield RoundRobinPattern(initial_agent=team[0], agents=team, group_manager_args={"llm_config": model}), 5


@contextmanager
def auto() -> Iterator[tuple[Any, int]]:
    """A model selects who of three agents speaks after the first; one never does."""
    with scripted("A plan.", "critic", "Too long.", "planner", "Thanks.") as model:
        team = agents(model, "planner", "critic", "writer")
        yield AutoPattern(initial_agent=team[0], agents=team, group_manager_args={"llm_config": model}), 4


@contextmanager
def handoffs() -> Iterator[tuple[Any, int]]:
    """Triage hands over to an agent, which hands over to a second one. A fourth agent never works."""
    with scripted("transfer_to_harbour_1()", "transfer_to_tide_1()", "At noon.") as model:
        triage, harbour, tide, clerk = team = agents(model, "triage", "harbour", "tide", "clerk")
        triage.handoffs.add_llm_conditions([_handoff(harbour), _handoff(clerk)])
        harbour.handoffs.add_llm_condition(_handoff(tide))
        tide.handoffs.set_after_work(TerminateTarget())
        yield DefaultPattern(initial_agent=triage, agents=team), 10


def _handoff(target: ConversableAgent) -> OnCondition:
    return OnCondition(target=AgentTarget(target), condition=StringLLMCondition(f"Ask the {target.name}."))


TEAMS = {"roundrobin": roundrobin, "auto": auto, "handoffs": handoffs}

if __name__ == "__main__":
    team, _, path = arguments()
    with recorded(path) as provider, TEAMS[team]() as (pattern, rounds):
        instrument_llm_wrapper(tracer_provider=provider)
        instrument_pattern(pattern, tracer_provider=provider)
        initiate_group_chat(pattern=pattern, messages="Write a text.", max_rounds=rounds)
