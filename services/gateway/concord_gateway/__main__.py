"""`python -m concord_gateway`: serves the green agent."""

from concord.service.logs import configure_logging
from concord.service.serve import address_parser, serve
from concord.service.servers import check_servers
from concord.tracing import configure_tracing
from concord.trust.urls import is_every_interface
from concord_gateway.app import create_app
from concord_gateway.settings import GatewaySettings


def main() -> None:
    """Reads arguments and environment, and serves until stopped."""
    parser = address_parser(
        "concord_gateway", "The green agent: assesses teams of agents over A2A. State is in Redis (REDIS_URL)."
    )
    parser.add_argument(
        "--card-url",
        help="URL in the agent card, where clients and participants reach the gateway (default: host and port, but for "
        "0.0.0.0 the address by which a client requests the card; participants then call each other directly)",
    )
    arguments = parser.parse_args()
    settings = GatewaySettings()
    configure_logging("gateway", level=settings.log_level, form=settings.log_format)
    check_servers(settings)
    configure_tracing("gateway")
    card_url = arguments.card_url
    if card_url is None and not is_every_interface(arguments.host):
        card_url = f"http://{arguments.host}:{arguments.port}/"
    serve(create_app(settings, card_url, f"{arguments.host}:{arguments.port}"), arguments.host, arguments.port)


if __name__ == "__main__":
    main()
