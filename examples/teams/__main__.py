"""`python -m examples.teams`: serves one member of one team."""

import argparse

from concord.service.serve import address_parser, serve
from examples.teams.catalogue import TEAMS
from examples.teams.member import create_app


def main() -> None:
    """Reads the arguments, and serves until stopped."""
    parser = address_parser("examples.teams", "One member of a team that counts trees, over A2A.")
    parser.add_argument("--team", choices=TEAMS, required=True, help="which team")
    parser.add_argument("--member", required=True, help="which of its members: lead, anna, bruno, clara or david")
    parser.add_argument(
        "--peers",
        nargs="*",
        type=_peer,
        default=[],
        metavar="NAME=URL",
        help="where the others really are; in an assessment, the gateway says where to call them",
    )
    given = parser.parse_args()
    team = TEAMS[given.team]
    if given.member not in team.members:
        parser.error(f"the team {given.team} has no member {given.member}")
    url = f"http://{given.host}:{given.port}/"
    serve(create_app(given.member, team, url, dict(given.peers)), given.host, given.port)


def _peer(text: str) -> tuple[str, str]:
    name, equals, url = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not a NAME=URL")
    return name, url


if __name__ == "__main__":
    main()
