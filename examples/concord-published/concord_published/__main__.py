"""Has a team play published tasks on this machine, with the controls of their papers, and compares."""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from pydantic import JsonValue

from concord.assessment.result_row import ResultsDocument
from concord.suite import Suite
from concord_published.comparison import table
from concord_published.suite import suite_of


def main() -> int:
    """Reads the arguments, plays, and prints the table. Returns the exit code of `concord run`."""
    arguments = _parser().parse_args()
    files = os.pathsep.join(str(file.resolve()) for file in arguments.files)
    suite = suite_of(files)
    output: Path = arguments.output
    output.parent.mkdir(parents=True, exist_ok=True)
    scenario = output.with_suffix(".toml")
    scenario.write_text(scenario_text(arguments, suite), encoding="utf-8")
    concord = Path(sys.executable).with_name("concord")
    env = os.environ | {"CONCORD_PUBLISHED": files}
    ran = subprocess.run([concord, "run", scenario, "-o", output], check=False, env=env)
    if ran.returncode == 0:
        [row] = ResultsDocument.model_validate_json(output.read_bytes()).results
        sys.stdout.write(f"\n{table(row)}\n")
    return ran.returncode


def scenario_text(arguments: argparse.Namespace, suite: Suite) -> str:
    """The scenario: one agent in all seats of all tasks, or of the first ones of each benchmark."""
    config: dict[str, JsonValue] = {"num_runs": arguments.runs, "controls": arguments.controls}
    if arguments.limit is None:
        config |= {"suite": list(suite.manifests), "exchange": arguments.exchange}
    else:
        config["tasks"] = [
            {"id": task["id"], "family": {**task, "exchange": arguments.exchange, "id": None}}
            for manifest in suite.manifests.values()
            for task in json.loads(manifest)["tasks"][: arguments.limit]
        ]
    if arguments.max_rounds is not None:
        config["max_rounds"] = arguments.max_rounds
    if arguments.trial_timeout is not None:
        config["trial_timeout_s"] = arguments.trial_timeout
    agent = {"name": "agent", "endpoint": arguments.endpoint, "cmd": arguments.cmd}
    return f"participants = [{_toml(agent)}]\nconfig = {_toml(config)}\n"


def _toml(value: JsonValue) -> str:
    """A value as TOML in one line; keys without a value are left out."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name} = {_toml(each)}' for name, each in value.items() if each is not None)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("concord-published", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="files or folders in a published layout")
    agent = parser.add_mutually_exclusive_group(required=True)
    agent.add_argument("--endpoint", metavar="URL", help="the agent, which takes all seats")
    agent.add_argument("--cmd", metavar="COMMAND", help="the command line that starts it, as in a scenario")
    parser.add_argument("--exchange", choices=["rounds", "calls"], default="rounds")
    parser.add_argument("--runs", type=int, default=1, metavar="N", help="of each task")
    parser.add_argument("--max-rounds", type=int, metavar="N", help="rounds of discussion, and one for the answers")
    parser.add_argument("--trial-timeout", type=float, metavar="SECONDS", help="of one trial, for slow models")
    parser.add_argument("--limit", type=int, metavar="N", help="play the first tasks only")
    parser.add_argument("--controls", nargs="*", choices=["solo", "silent"], default=["solo", "silent"])
    parser.add_argument("-o", "--output", type=Path, default=Path("output/published/results.json"))
    return parser


if __name__ == "__main__":
    sys.exit(main())
