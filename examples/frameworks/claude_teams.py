"""Teams of Claude's Agent SDK with scripted models: `claude_teams.py TEAM INSTRUMENTATION FILE`.

The SDK starts the program that its package has, which asks a scripted endpoint and needs no account.
"""

import asyncio
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from recording import arguments, received, recorded
from scripted_endpoint import Line, Scripts
from scripted_messages import scripted_messages

ANSWER = "The harbour of Bergen is 9 m deep."


def ask(*, background: bool) -> Line:
    """The lead's call of its expert."""
    wanted = {"description": "Ask about depths", "prompt": "How deep is the harbour?", "subagent_type": "expert"}
    return "Agent", wanted | {"run_in_background": background}


SCRIPTS: dict[str, Scripts] = {
    "subagent": {"Seat of the expert": ["9 m."], "Seat of the lead": [ask(background=False), ANSWER]},
    "background": {"Seat of the expert": ["9 m."], "Seat of the lead": [ask(background=True), "I asked.", ANSWER]},
}


async def run(environment: Mapping[str, str], folder: Path) -> None:
    """A lead asks its expert."""
    # After the instrumentation, which replaces `query` in the package.
    from claude_agent_sdk import AgentDefinition, ClaudeAgentOptions, query

    expert = AgentDefinition(description="Knows harbours.", prompt="Seat of the expert.", tools=[])
    options = ClaudeAgentOptions(
        system_prompt="Seat of the lead.",
        agents={"expert": expert},
        permission_mode="bypassPermissions",
        setting_sources=[],
        env=dict(environment),
        cwd=folder,
    )
    async for _ in query(prompt="How deep is the harbour of Bergen?", options=options):
        pass


@contextmanager
def telemetry(instrumentation: str, path: Path) -> Iterator[dict[str, str]]:
    """Records spans, and yields the environment that the SDK's program needs for its own ones."""
    if instrumentation == "openinference":
        from openinference.instrumentation.claude_agent_sdk import ClaudeAgentSDKInstrumentor

        with recorded(path) as provider:
            ClaudeAgentSDKInstrumentor().instrument(tracer_provider=provider)
            yield {}
        return
    with received(path) as url:
        yield {
            "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
            "CLAUDE_CODE_ENHANCED_TELEMETRY_BETA": "1",
            "OTEL_TRACES_EXPORTER": "otlp",
            "OTEL_LOGS_EXPORTER": "none",
            "OTEL_METRICS_EXPORTER": "none",
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "OTEL_EXPORTER_OTLP_ENDPOINT": url,
            "OTEL_LOG_USER_PROMPTS": "1",
            "OTEL_LOG_TOOL_DETAILS": "1",
            "OTEL_LOG_TOOL_CONTENT": "1",
        }


if __name__ == "__main__":
    team, instrumentation, path = arguments()
    with (
        tempfile.TemporaryDirectory() as folder,
        telemetry(instrumentation, path) as exporting,
        scripted_messages(SCRIPTS[team]) as url,
    ):
        account = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "CLAUDE_CONFIG_DIR": f"{folder}/settings"}
        asyncio.run(run(account | exporting | {"DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1"}, Path(folder)))
