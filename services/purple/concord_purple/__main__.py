"""`python -m concord_purple`: serves one agent of a team, or a personal assistant."""

from argparse import SUPPRESS
from enum import StrEnum
from typing import get_args

from pydantic import ValidationError

from concord.files import first_fault
from concord.llm import LLMSettings
from concord.service.logs import configure_logging
from concord.service.serve import address_parser, serve
from concord.service.settings import ServiceSettings
from concord_purple.agent import create_app
from concord_purple.assistant.app import NoModelError, create_assistant_app
from concord_purple.assistant.scripted import OracleError
from concord_purple.settings import PurpleSettings

_EPILOG = """\
Every option has a variable that it overrides: PURPLE_HOST, PURPLE_PORT, PURPLE_CARD_URL, PURPLE_AGENT_ID,
PURPLE_FUNCTION, PURPLE_TEAM, PURPLE_MODE, PURPLE_ASSISTANT, PURPLE_ORACLE. Variables alone: PURPLE_PEERS (peers that
are known from the start, id=url,... or JSON), PURPLE_COLLECTOR_URL (whose registry to join) and PURPLE_COLLECTOR_TOKEN
(for that, unless it is open to all), PURPLE_CALL_TIMEOUT_S (longest wait for a peer, 300), and AGENTBEATS_LLM_API_KEY,
_BASE_URL, _MODEL (with a key, a language model words the final review; the assistant `model` needs the key).
"""

_DEFAULTED = {"host", "port", "function", "team", "mode"}
"""What `--help` shows with its default, which may be from the environment."""


def settings_from(arguments: list[str] | None = None) -> PurpleSettings:
    """The settings by the command line, else the environment. Exits with a usage message where they are wrong."""
    parser = address_parser("concord_purple", "One agent of a team that reviews texts, or a personal assistant.")
    parser.epilog = _EPILOG
    for name, field in PurpleSettings.model_fields.items():
        if field.description is not None:
            kinds = [each for each in (field.annotation, *get_args(field.annotation)) if isinstance(each, type)]
            choices = [str(each) for kind in kinds if issubclass(kind, StrEnum) for each in kind] or None
            option = f"--{name.replace('_', '-')}"
            parser.add_argument(option, default=SUPPRESS, choices=choices, help=field.description)
    try:
        parser.set_defaults(**PurpleSettings().model_dump(include=_DEFAULTED, mode="json"))
        return PurpleSettings(**vars(parser.parse_args(arguments)))
    except ValidationError as error:
        parser.error(first_fault(error))


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
