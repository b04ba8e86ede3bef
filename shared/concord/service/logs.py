"""Structured logs: one event per line, readable on a terminal, JSON elsewhere."""

import logging
import sys
from contextlib import suppress
from typing import Final, Literal, TextIO

import structlog

from concord.trust.redaction import redact

_QUIET: Final = ("httpx", "httpcore", "a2a", "arq", "openai")
"""These libraries log every request with its URL, and a proxy URL contains a token: only warnings are logged."""


class _Handler(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the standard library's name
        """Reports a record that could not be written, without its contents, which are not redacted."""
        with suppress(OSError, ValueError):
            self.stream.write(f"a log record of {record.name} could not be written\n")


def configure_logging(service: str, *, level: str = "INFO", form: Literal["auto", "console", "json"] = "auto") -> None:
    """Configures logging to standard error, for this process and its libraries."""
    console = form == "console" or (form == "auto" and sys.stderr.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    final: list[structlog.typing.Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if console:
        # The default, if rich is installed, prints local variables of every frame.
        final.append(structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback))
    else:
        final += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    final.append(_redacted)
    handler = _Handler(sys.stderr)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=final))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    structlog.contextvars.bind_contextvars(service=service)


def _redacted(_: structlog.typing.WrappedLogger, __: str, line: structlog.typing.EventDict) -> str:
    """The last processor: redacts the rendered line."""
    return redact(str(line))
