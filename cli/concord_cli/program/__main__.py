"""`python -m concord_cli.program`: gateway, collector and workers in one process, on one port or two."""

import gc
import sys
from argparse import ArgumentParser, Namespace
from contextlib import ExitStack
from functools import partial

from concord.guarded_process import SERVICE_S
from concord.service.logs import configure_logging
from concord.service.program import run_until_signalled
from concord.service.serve import AppNotStartedError, address_parser
from concord.tracing import configure_tracing


def main() -> None:
    """Reads arguments and environment, and works until stopped."""
    arguments = _parser().parse_args()
    # Imports make a million objects and almost no garbage. Looking for it takes a tenth of the start.
    gc.disable()
    _work(arguments)


def _work(arguments: Namespace) -> None:
    from pydantic import ValidationError

    from concord.files import first_fault
    from concord.service.servers import check_servers
    from concord_cli.program.parts import Addresses, Settings, listening, run
    from concord_evaluator.work import broken_plugin

    gc.freeze()
    gc.enable()
    if (fault := broken_plugin()) is not None:
        sys.exit(fault)
    addresses = Addresses(arguments.host, arguments.port, arguments.collector_port, arguments.card_url)
    try:
        settings = Settings.of_environment(arguments.grace)
    except ValidationError as error:
        sys.exit(f"a setting of the environment is invalid: {first_fault(error)}")
    configure_logging("concord", level=settings.gateway.log_level, form=settings.gateway.log_format)
    check_servers(settings.gateway)
    configure_tracing("green-agent")
    with ExitStack() as exits:
        try:
            listeners = [exits.enter_context(each) for each in listening(addresses)]
        except OSError as error:
            sys.exit(f"cannot listen: {error.strerror or error}")
        try:
            run_until_signalled(partial(run, settings, addresses, listeners))
        except AppNotStartedError as error:
            sys.exit(str(error))


def _parser() -> ArgumentParser:
    parser = address_parser(
        "concord_cli.program", "Gateway, collector and workers as one program. State is in Redis (REDIS_URL)."
    )
    parser.add_argument("--card-url", help="URL in the agent card, where clients and participants reach the gateway")
    parser.add_argument("--collector-port", type=int, help="the collector's own port (default: the gateway's)")
    parser.add_argument(
        "--grace",
        type=int,
        default=SERVICE_S,
        metavar="SECONDS",
        help="how long requests and jobs may run after SIGTERM",
    )
    return parser


if __name__ == "__main__":
    main()
