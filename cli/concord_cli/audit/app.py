"""The arguments of `concord audit`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.exits import execute, exit_codes
from concord_cli.extras import needing


def audit_tasks(
    targets: Annotated[
        list[str],
        typer.Argument(
            metavar="TARGETS",
            help="Scenario files (TOML), suites (manifests, families, groups of families), folders of an assistant's "
            "scenario, or folders of any of these.",
        ),
    ],
    scenarios: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder of assistants' scenarios that a scenario file names.")
    ] = Path("scenarios/assistant"),
    instances: Annotated[
        int, typer.Option(min=2, max=1000, help="Instances of each team task on which seats pretend.")
    ] = 12,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list with an object for each target.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every attack and every item.")] = False,
) -> None:
    """Play what audits of benchmarks look for against tasks, and say which attacks earn points. Needs no model.

    Exit codes: 0 no attack earns points; 1 some do, or a right answer earns none; 2 an invalid target.
    """
    with exit_codes(), needing("concord audit", "evaluator,gateway,assistant,environment"):
        from concord_cli.audit.command import AuditArguments, audit

        execute(audit(AuditArguments(targets, scenarios, instances, as_json, verbose)))
