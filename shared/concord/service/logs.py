"""Structured logs: one event a line, readable on a terminal and JSON elsewhere."""

import logging
import sys
from contextlib import suppress
from typing import Final, Literal, TextIO

import structlog

from concord.trust.redaction import redact

_QUIET: Final = ("httpx", "httpcore", "a2a", "arq", "openai")
"""These log every request with its URL, and a proxy's URL holds a token: only their warnings are let through."""


class _Handler(logging.StreamHandler[TextIO]):
    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the standard library's name
        """Tells of a record that could not be written, and nothing of what it holds, which nobody redacted."""
        with suppress(OSError, ValueError):
            self.stream.write(f"a log record of {record.name} could not be written\n")


def configure_logging(service: str, *, level: str = "INFO", form: Literal["auto", "console", "json"] = "auto") -> None:
    """Sends the logs of a process, its libraries' included, to standard error."""
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
        cache_logger_on_first_use=True,
    )
    final: list[structlog.typing.Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if console:
        # The default, where rich is installed, prints the local variables of every frame.
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
    """The last processor, to which the line comes rendered: whoever logged it, no token gets out."""
    return redact(str(line))
