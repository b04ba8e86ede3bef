"""The commands `concord verify` and `concord sign`."""

from pathlib import Path
from typing import Annotated

import typer

from concord_cli.exits import execute, exit_codes
from concord_cli.extras import needing

BundlePath = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="The bundle, or a folder with <assessment id>.zip for each row; by default, bundles/ beside the results.",
    ),
]
BundleFrom = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The green agent from which to download the bundles that are not there, with the key in CONCORD_API_KEY.",
    ),
]
ScenarioFolders = Annotated[
    list[Path],
    typer.Option(
        "--scenarios",
        metavar="FOLDER",
        help="Folder with the scenarios of assistants. Only code that equals theirs is executed.",
    ),
]
SignaturePath = Annotated[
    Path | None, typer.Option(metavar="FILE", help="The signature; by default, the results file's name with .sig.")
]
Provenance = Annotated[
    Path | None, typer.Option(metavar="FILE", help="provenance.json with the digests of the images that ran.")
]
VerifiedResults = Annotated[Path, typer.Argument(metavar="RESULTS", help="Results file (.json) to verify.")]
SHIPPED_SCENARIOS = [Path("scenarios/assistant")]


def verify_results(
    results: VerifiedResults,
    bundle: BundlePath = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Public key (PEM, ed25519) to check the signature."),
    ] = None,
    signature: SignaturePath = None,
    provenance: Provenance = None,
    scenarios: ScenarioFolders = SHIPPED_SCENARIOS,
    bundle_from: BundleFrom = None,
) -> None:
    """Compute every value of results again from their bundles, and check a signature.

    Exit codes: 0 verified; 1 a difference, a damaged bundle or a wrong signature; 2 an invalid command line or file;
    3 verified, but shards are missing.
    """
    with exit_codes(), needing("concord verify", "evaluator,gateway"):
        from concord_cli.verify.command import VerifyArguments, verify

        execute(verify(VerifyArguments(results, bundle, scenarios, key, signature, provenance, bundle_from)))


def sign_results(
    results: VerifiedResults,
    bundle: BundlePath = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Private key (PEM, ed25519); by default, in CONCORD_SIGNING_KEY."),
    ] = None,
    signature: SignaturePath = None,
    provenance: Provenance = None,
    scenarios: ScenarioFolders = SHIPPED_SCENARIOS,
    bundle_from: BundleFrom = None,
) -> None:
    """Verify results, and sign rows, bundles, manifests and the images' digests. Exit codes as for `verify`."""
    with exit_codes(), needing("concord sign", "evaluator,gateway"):
        from concord_cli.verify.command import VerifyArguments, sign_results

        execute(sign_results(VerifyArguments(results, bundle, scenarios, key, signature, provenance, bundle_from)))
