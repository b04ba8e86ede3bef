"""`python -m concord_gateway`: serves the green agent."""

from concord.service import address_parser, configure_logging, serve
from concord_gateway.app import create_app
from concord_gateway.settings import GatewaySettings


def main() -> None:
    """Reads arguments and environment, and serves until stopped."""
    parser = address_parser(
        "concord_gateway", "The green agent: assesses teams of agents over A2A. State is in Redis (REDIS_URL)."
    )
    parser.add_argument(
        "--card-url", help="URL in the agent card, where clients reach the gateway (default: host and port)"
    )
    arguments = parser.parse_args()
    settings = GatewaySettings()
    configure_logging("gateway", level=settings.log_level, form=settings.log_format)
    card_url = arguments.card_url or f"http://{arguments.host}:{arguments.port}/"
    serve(create_app(settings, card_url, f"{arguments.host}:{arguments.port}"), arguments.host, arguments.port)


if __name__ == "__main__":
    main()
