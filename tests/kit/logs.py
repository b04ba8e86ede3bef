"""The services' log in a file, as a process of their own would write it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import structlog

from concord.service.logs import configure_logging


@contextmanager
def logging_to(path: Path, level: str = "INFO") -> Iterator[None]:
    """Appends what the services log in this process to a file. The handlers of pytest stay."""
    root = logging.getLogger()
    handlers, before = list(root.handlers), root.level
    with path.open("a") as file:
        configure_logging("test", level=level, form="json")
        (handler,) = root.handlers
        assert isinstance(handler, logging.StreamHandler)
        handler.setStream(file)
        root.handlers[:0] = handlers
        try:
            yield
        finally:
            root.handlers = handlers
            root.setLevel(before)
            structlog.reset_defaults()
            structlog.contextvars.clear_contextvars()
