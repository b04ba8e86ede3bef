"""Logs: all loggers write in the configured form, and none writes a token."""

import logging
from collections.abc import Iterator
from typing import Literal

import pytest
import structlog

from concord.service.logs import configure_logging
from concord.trust.redaction import TOKEN_PREFIX

TOKEN = f"{TOKEN_PREFIX}eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ3cml0ZXIifQ.{'x' * 43}"


@pytest.fixture(autouse=True)
def _restore_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def call_a_peer(url: str) -> None:
    local = url
    raise ConnectionError(f"no way to {local}")


@pytest.mark.parametrize("form", ["console", "json"])
def test_no_token_is_in_a_line_a_field_or_a_traceback(
    form: Literal["console", "json"], capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logging("test", form=form)
    logging.getLogger("anything").warning("GET %s failed", f"http://gateway/a2a/{TOKEN}/reader/")
    structlog.get_logger("ours").warning("refused", path=f"/a2a/{TOKEN}/reader/")
    try:
        call_a_peer(f"http://gateway/a2a/{TOKEN}/reader/")
    except ConnectionError:
        logging.getLogger("anything").exception("lost")
    written = capsys.readouterr().err
    assert TOKEN not in written
    assert TOKEN_PREFIX not in written
    assert written.count("/a2a/-/reader/") == 3
    assert "ConnectionError" in written


def test_a_record_that_cannot_be_formatted_does_not_show_its_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("test", form="json")
    logging.getLogger("anything").warning("GET %d failed", f"http://gateway/a2a/{TOKEN}/reader/")
    written = capsys.readouterr().err
    assert TOKEN_PREFIX not in written
    assert "a log record of anything could not be written" in written
