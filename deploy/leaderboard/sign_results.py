"""Verifies a leaderboard's submissions, and signs those that nobody signed yet.

`python sign_results.py --concord concord/.venv/bin/concord [--sign] [--key signing-key.pub]`, in the leaderboard's
repository. Of `results/NAME.json`, the bundles are in `submissions/NAME.bundles`, the provenance is
`submissions/NAME.provenance.json`, and the signature is `results/NAME.json.sig`. `--sign` takes the private key from
CONCORD_SIGNING_KEY. Submissions without bundles are named and left unsigned. Exit code 1 if one does not verify.
"""

import argparse
import subprocess
import sys
from pathlib import Path


def command_for(concord: Path, results: Path, submissions: Path, key: Path, *, sign: bool) -> list[str] | None:
    """The command that verifies a results file, or signs a file without a signature; None for a file without bundles.
    Without `sign`, the command only verifies a file without a signature."""
    bundles = submissions / f"{results.stem}.bundles"
    if not bundles.is_dir():
        return None
    options = ["--bundle", str(bundles)]
    provenance = submissions / f"{results.stem}.provenance.json"
    if provenance.exists():
        options += ["--provenance", str(provenance)]
    if results.with_name(f"{results.name}.sig").exists():
        return [str(concord), "verify", str(results), *options, "--key", str(key)]
    return [str(concord), "sign" if sign else "verify", str(results), *options]


def main() -> int:
    """Verifies all results files. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Verify the submissions of a leaderboard, and sign them.")
    parser.add_argument("--concord", type=Path, required=True, help="the program `concord`")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--submissions", type=Path, default=Path("submissions"))
    parser.add_argument("--key", type=Path, default=Path("signing-key.pub"), help="the leaderboard's public key")
    parser.add_argument("--sign", action="store_true", help="sign what verifies and has no signature")
    arguments = parser.parse_args()
    failed = []
    for results in sorted(arguments.results.glob("*.json")):
        command = command_for(arguments.concord, results, arguments.submissions, arguments.key, sign=arguments.sign)
        print(f"{results}: {'has no bundles and stays unsigned' if command is None else command[1]}", flush=True)
        if command is not None and subprocess.run(command, check=False).returncode != 0:  # noqa: S603
            failed.append(results)
    if failed:
        print(f"sign_results: not verified: {', '.join(map(str, failed))}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
