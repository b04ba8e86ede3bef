"""`python -m concord_purple`: serves one agent of a team, or a personal assistant."""

from argparse import SUPPRESS
from pathlib import Path

from pydantic import ValidationError

from concord.llm import LLMSettings
from concord.service.logs import configure_logging
from concord.service.serve import address_parser, serve
from concord.service.settings import ServiceSettings
from concord_purple.agent import create_app
from concord_purple.assistant.app import NoModelError, create_assistant_app
from concord_purple.assistant.scripted import OracleError
from concord_purple.settings import AssistantMode, PurpleSettings, TeamMode
from concord_purple.teams import Function, TeamName

_EPILOG = """\
Every option has a variable that it overrides: PURPLE_HOST, PURPLE_PORT, PURPLE_CARD_URL, PURPLE_AGENT_ID,
PURPLE_FUNCTION, PURPLE_TEAM, PURPLE_MODE, PURPLE_ASSISTANT, PURPLE_ORACLE. Variables alone: PURPLE_PEERS (peers that
are known from the start, id=url,... or JSON), PURPLE_COLLECTOR_URL (whose registry to join) and PURPLE_COLLECTOR_TOKEN
(for that, unless it is open to all), PURPLE_CALL_TIMEOUT_S (longest wait for a peer, 300), and AGENTBEATS_LLM_API_KEY,
_BASE_URL, _MODEL (with a key, a language model words the final review; the assistant `model` needs the key).
"""

_DEFAULTED = {"host", "port", "function", "team", "mode"}


def settings_from(arguments: list[str] | None = None) -> PurpleSettings:
    """The settings by the command line, else the environment. Exits with a usage message where they are wrong."""
    parser = address_parser("concord_purple", "One agent of a team that reviews texts, or a personal assistant.")
    parser.epilog = _EPILOG
    parser.add_argument("--card-url", default=SUPPRESS, help="URL in the agent's card: where others reach it")
    parser.add_argument("--agent-id", default=SUPPRESS, help="agent's id outside assessments (default: its function)")
    parser.add_argument("--function", choices=list(map(str, Function)), help="agent's function in its team")
    parser.add_argument("--team", choices=list(map(str, TeamName)), help="wiring of the team")
    parser.add_argument("--mode", choices=list(map(str, TeamMode)), help="work, or echo the text of the request")
    parser.add_argument(
        "--assistant",
        choices=list(map(str, AssistantMode)),
        default=SUPPRESS,
        help="serve a personal assistant instead of an agent of a team",
    )
    parser.add_argument(
        "--oracle", type=Path, default=SUPPRESS, help="the oracle.json that the assistant oracle performs"
    )
    try:
        from_environment = PurpleSettings().model_dump(
            include={"host", "port", "function", "team", "mode"}, mode="json"
        )
        parser.set_defaults(**from_environment)
        given = vars(parser.parse_args(arguments))
        return PurpleSettings(**{name: value for name, value in given.items() if value is not None})
    except ValidationError as error:
        parser.error(_first_fault(error))


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" if fault["loc"] else fault["msg"]


def main() -> None:
    """Reads arguments and environment, and serves until stopped."""
    settings, service = settings_from(), ServiceSettings()
    configure_logging(f"purple {settings.own_id}", level=service.log_level, form=service.log_format)
    llm = LLMSettings()
    try:
        app = create_app(settings, llm) if settings.assistant is None else create_assistant_app(settings, llm)
    except (OracleError, NoModelError) as error:
        raise SystemExit(f"concord_purple: {error}") from error
    serve(app, settings.host, settings.port)


if __name__ == "__main__":
    main()
