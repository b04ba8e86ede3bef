"""The log of a running command: lines without a terminal, a spinner on one."""

from io import StringIO

from rich.console import Console

from concord_cli.display_text import printable
from concord_cli.terminal import ProgressLog


def logged(*, terminal: bool) -> str:
    out = StringIO()
    with ProgressLog(Console(file=out, force_terminal=terminal, width=40)) as progress:
        progress.status("Starting")
        progress.log("[bold]redis[/] was ended; " + "x" * 60)
        progress.status("Assessing")
    return out.getvalue()


def test_without_a_terminal_everything_is_a_plain_line_with_the_time() -> None:
    lines = logged(terminal=False).splitlines()

    assert [line.split(" s  ")[1] for line in lines] == [
        "Starting",
        "[bold]redis[/] was ended; " + "x" * 60,
        "Assessing",
    ]
    assert all(float(line.split(" s  ")[0]) >= 0 for line in lines)


def test_on_a_terminal_the_spinner_hides_the_cursor_and_restores_it() -> None:
    shown = logged(terminal=True)

    assert "\x1b[?25l" in shown  # the cursor is hidden
    assert shown.rindex("\x1b[?25h") > shown.rindex("Assessing")  # and shown again at the end


def test_control_characters_in_an_agents_text_are_replaced() -> None:
    assert printable("\x1b]0;owned\x07 line\none") == " ]0;owned  line one"
