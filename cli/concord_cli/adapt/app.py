"""The arguments of `concord adapt`."""

from collections.abc import Coroutine
from typing import Annotated

import typer

from concord.loopback import LOOPBACK
from concord_cli.exits import execute, exit_codes
from concord_cli.extras import needing
from concord_cli.options import Host, checked_url


def adapt_agent(
    role: Annotated[str, typer.Argument(metavar="ROLE", help="The agent's role in the assessment.")],
    command: Annotated[list[str], typer.Argument(metavar="COMMAND", help="The command that starts the agent.")],
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port where the gateway reaches the agent.")],
    host: Host = LOOPBACK,
    card_url: Annotated[
        str | None, typer.Option(metavar="URL", callback=checked_url, help="URL of that port, for the agent's card.")
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            callback=checked_url,
            help="Where COMMAND listens; by default, it gets --host, --port and --card-url.",
        ),
    ] = None,
) -> None:
    """Start an agent that has its peers' addresses in its own configuration, and let the gateway observe its calls."""
    with exit_codes(), needing("concord adapt", "gateway"):
        from concord_cli.adapt.command import AdaptArguments, adapt

        codes: list[int] = []
        execute(_noted(adapt(AdaptArguments(role, command, host, port, card_url, agent)), codes))
        raise typer.Exit(codes[0])


async def _noted(work: Coroutine[None, None, int], codes: list[int]) -> None:
    codes.append(await work)
