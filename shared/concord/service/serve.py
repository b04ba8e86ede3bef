"""Serves an app with uvicorn: the platform's arguments, and graceful shutdown."""

import argparse
from typing import Final

import uvicorn
from starlette.types import ASGIApp

from concord.loopback import LOOPBACK

DEFAULT_PORT: Final = 9009
GRACE_S: Final = 8
"""How long open requests may take after SIGTERM; below a container's ten seconds."""


def address_parser(program: str, description: str, *, port: int = DEFAULT_PORT) -> argparse.ArgumentParser:
    """A parser with `--host` and `--port`, common to all services."""
    parser = argparse.ArgumentParser(
        program, description=description, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--host", default=LOOPBACK, help="address to listen on")
    parser.add_argument("--port", type=int, default=port, help="port to listen on")
    return parser


def serve(app: ASGIApp, host: str, port: int) -> None:
    """Serves until SIGTERM or SIGINT, then lets open requests finish for `GRACE_S`."""
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
