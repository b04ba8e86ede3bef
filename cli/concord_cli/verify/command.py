"""`concord verify` and `concord verify --sign`, once their arguments are parsed."""

from rich.console import Console

from concord_cli.bundle_download import download_bundles
from concord_cli.commands.arguments import VerifyArguments
from concord_cli.display_text import counted, printable
from concord_cli.errors import AssessmentError, IncompleteError, PlugInsDifferError, UsageError
from concord_cli.output_files import write_text
from concord_cli.terminal import delayed_spinner
from concord_cli.verify.checks import RECORDED, Verification, rows_of, verify_results
from concord_cli.verify.signature import (
    Provenance,
    SignatureError,
    check_signature,
    private_key,
    public_key,
    read_provenance,
    sign,
    signature_file,
)


async def verify(arguments: VerifyArguments) -> None:
    """Prints whether the results follow from their bundles, and with a key whether the key's owner signed them.

    Raises AssessmentError if a check fails, IncompleteError if shards are missing, UsageError for unusable files.
    """
    key = None if arguments.key is None else public_key(arguments.key)
    provenance = None if arguments.provenance is None else read_provenance(arguments.provenance)
    signed_by = arguments.signature or signature_file(arguments.results)
    found = await _verified(arguments, provenance)
    if key is not None:
        try:
            check_signature(signed_by, found.statement(provenance), key)
        except SignatureError as error:
            found.faults.append(f"{signed_by}: {error}")
    _report(found)
    if key is None:
        _say("No signature was checked, so results and bundles may have been made up together. Give --key.")
        _say(f"Only a signature covers the values that the host recorded: {', '.join(RECORDED)}")
        return
    _say("The signature was made with the given key.")
    for service, digest in (provenance.image_digests if provenance is not None else {}).items():
        _say(f"  {service} ran {digest}")


async def sign_results(arguments: VerifyArguments) -> None:
    """Verifies results and writes their signature. Raises as `verify` does."""
    key = private_key(arguments.key)
    provenance = None if arguments.provenance is None else read_provenance(arguments.provenance)
    signed_by = arguments.signature or signature_file(arguments.results)
    found = await _verified(arguments, provenance)
    _report(found)
    write_text(signed_by, sign(found.statement(provenance), key).text().decode())
    _say(f"The signature is in {signed_by}")


async def _verified(arguments: VerifyArguments, provenance: Provenance | None) -> Verification:
    bundles = arguments.bundles
    async with delayed_spinner(Console(stderr=True, highlight=False), "Verifying") as say:
        if arguments.bundle_from is not None:
            if bundles.is_file():
                raise UsageError(f"{bundles}: --bundle-from needs a folder for the bundles")
            await download_bundles(rows_of(arguments.results), bundles, arguments.bundle_from)
        found = await verify_results(arguments.results, bundles, arguments.scenarios, say)
    if provenance is not None:
        found.compare(provenance)
    return found


def _report(found: Verification) -> None:
    """Prints the outcome of the checks. Raises AssessmentError, IncompleteError, PlugInsDifferError."""
    if found.faults:
        count = counted(len(found.faults), "fault")
        if len(found.faults) == 1 and not found.notes:
            raise AssessmentError(f"the results are not verified: {count}: {found.faults[0]}")
        raise AssessmentError("\n".join([f"the results are not verified: {count}", *found.notes, *found.faults]))
    if found.plug_ins:
        for name, reason in sorted(found.plug_ins.items()):
            _say(f"Not compared: the metric {name}: {reason}.")
        metrics = counted(len(found.plug_ins), "metric")
        raise PlugInsDifferError(f"all else follows from the bundles; {metrics} of plug-ins cannot be compared")
    rows, trials = counted(len(found.rows), "row"), counted(found.trials, "trial")
    _say(f"Every value of {rows} follows from the bundles: {trials} computed again.")
    if found.missing:
        shards = ", ".join(map(str, found.missing))
        raise IncompleteError(f"shards are missing, so this is not the whole assessment: {shards}")


def _say(line: str) -> None:
    print(printable(line))  # noqa: T201 - the command's answer
