"""What is told while a command runs: lines where there is no terminal, a spinner where there is one."""

from io import StringIO

from rich.console import Console

from concord_cli.narrator import Narrator, printable


def narrated(*, terminal: bool) -> str:
    out = StringIO()
    with Narrator(Console(file=out, force_terminal=terminal, width=40)) as narrator:
        narrator.doing("Starting")
        narrator.say("[bold]redis[/] was ended; " + "x" * 60)
        narrator.doing("Assessing")
    return out.getvalue()


def test_without_a_terminal_everything_is_a_plain_line_with_the_time() -> None:
    lines = narrated(terminal=False).splitlines()

    assert [line.split(" s  ")[1] for line in lines] == [
        "Starting",
        "[bold]redis[/] was ended; " + "x" * 60,
        "Assessing",
    ]
    assert all(float(line.split(" s  ")[0]) >= 0 for line in lines)


def test_on_a_terminal_what_is_under_way_is_wiped_out_in_the_end() -> None:
    shown = narrated(terminal=True)

    assert "\x1b[?25l" in shown  # the cursor goes ...
    assert shown.rindex("\x1b[?25h") > shown.rindex("Assessing")  # ... and comes back


def test_what_an_agent_says_cannot_command_the_terminal() -> None:
    assert printable("\x1b]0;owned\x07 line\none") == " ]0;owned  line one"
