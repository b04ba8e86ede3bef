"""The spinner of `concord evaluate --rejudge`: only on a terminal, and only once judging takes a while."""

import asyncio
import io

import pytest
from rich.console import Console

from concord_cli import terminal
from concord_cli.terminal import delayed_spinner


async def shown(console: Console) -> str:
    async with delayed_spinner(console, "Judging") as set_text:
        set_text("Judging trip\x1b[2J")
        await asyncio.sleep(0.05)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(("delay_s", "visible"), [(0.0, True), (60.0, False)])
async def test_a_terminal_shows_the_spinner_only_after_a_delay(
    delay_s: float, visible: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminal, "SPINNER_DELAY_S", delay_s)
    output = await shown(Console(file=io.StringIO(), force_terminal=True, width=80))
    assert ("Judging trip" in output) == visible
    assert "\x1b[2J" not in output


async def test_output_to_a_file_has_no_spinner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "SPINNER_DELAY_S", 0.0)
    assert (await shown(Console(file=io.StringIO(), force_terminal=False))).strip() == ""
