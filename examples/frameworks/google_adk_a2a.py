"""A Google ADK agent transfers to one in another process, over A2A: `google_adk_a2a.py TEAM INSTRUMENTATION FILE`.

Both processes have spans of ADK, of the A2A SDK and of HTTP, whose headers carry the trace from one to the other.
"""

import asyncio
import tempfile
from pathlib import Path

from google.adk.a2a.utils.agent_to_a2a import to_a2a
from google.adk.agents import LlmAgent
from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from google_adk_teams import run, says
from processes import free_port, serve, served
from recording import arguments, recorded


def expert(port: int, path: Path) -> None:
    """Serves the expert."""
    agent = LlmAgent(name="tide_expert", description="Knows tides.", model=says("Low tide is at noon."))
    with recorded(path, processor=BatchSpanProcessor):
        serve(to_a2a(agent, host="127.0.0.1", port=port), port)


def team(path: Path) -> str:
    """Runs a coordinator, which transfers to the expert. Returns the spans of the expert's process."""
    with tempfile.TemporaryDirectory() as folder:
        theirs = Path(folder, "expert.jsonl")
        with recorded(path, processor=BatchSpanProcessor), served("expert", (free_port(),), theirs) as url:
            HTTPXClientInstrumentor().instrument()
            card = f"{url}/.well-known/agent-card.json"
            remote = RemoteA2aAgent(name="tide_expert", description="Knows tides.", agent_card=card)
            transfer = ("transfer_to_agent", {"agent_name": "tide_expert"})
            asyncio.run(run(LlmAgent(name="coordinator", model=says(transfer), sub_agents=[remote])))
        return theirs.read_text()


if __name__ == "__main__":
    role, given, path = arguments()
    if role == "expert":
        expert(int(given), path)
    else:
        exported = team(path)
        if role == "to_a2a":
            with path.open("a") as file:
                file.write(exported)
