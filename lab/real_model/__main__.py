"""`python -m lab.real_model [PATH …]`: has a small language model take every place that a model can take.

Writes each row and the exchanges with the model below
`output/real-model`. Exit code 1 if a row is missing or is not true to what the model wrote.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from concord_cli.results_file import read_rows
from lab.real_model.paths import MODEL, PATHS, ModelPath
from tests.kit.exchanges import Exchange, Recorder
from tests.kit.serving import served

OUTPUT: Final = Path("output/real-model")
ROOT: Final = Path(__file__).parents[2]
ENVIRONMENT: Final = Path(".venv-real-model")
FOLDERS: Final = Path("scenarios/assistant").resolve()
UNRULED: Final = Path("tests/integration/assistant/ues_agentbeats").resolve()
"""A scenario in the layout of ues-agentbeats, whose characters have no rules."""
CONCORD: Final = Path(sys.executable).with_name("concord")
TIME_LIMIT_S: Final = 1_800
"""Of one path on a machine that does much else. On a quiet one, all take 15 minutes."""


async def main() -> int:
    """Plays the paths one after the other. Returns the exit code."""
    parser = argparse.ArgumentParser("lab.real_model", description=__doc__)
    parser.add_argument("paths", nargs="*", choices=[[], *(each.name for each in PATHS)], help="all without")
    parser.add_argument("--server", metavar="PYTHON", help=f"of an environment with the model (default: {ENVIRONMENT})")
    arguments = parser.parse_args()
    failed = False
    with model_endpoint(arguments.server or _installed()) as upstream:
        for path in PATHS:
            if not arguments.paths or path.name in arguments.paths:
                started = time.monotonic()
                faults, exchanges = await played(path, upstream)
                failed = failed or bool(faults)
                sys.stdout.write(
                    f"{path.name}: {'; '.join(faults) or 'true'} ({len(exchanges)} completions, "
                    f"{sum(each.tokens for each in exchanges):,} tokens, {time.monotonic() - started:.0f} s)\n"
                )
                sys.stdout.flush()
    return int(failed)


def _installed() -> str:
    """The Python of the environment with the model, which is made if it does not exist yet."""
    if not (ENVIRONMENT / "ready").exists():
        install = ["locks/install", str(ENVIRONMENT / "ready"), "locks/real-model.txt"]
        subprocess.run(install, cwd=ROOT, check=True)
    return str(ROOT / ENVIRONMENT / "bin" / "python")


@contextmanager
def model_endpoint(python: str) -> Iterator[str]:
    """The address of the model's endpoint, while it is served."""
    program = Path(__file__).with_name("serve.py")
    with subprocess.Popen(
        [python, str(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        if not address:
            raise SystemExit("the model's server did not start")
        try:
            yield address
        finally:
            server.stdin.close()


async def played(path: ModelPath, upstream: str) -> tuple[list[str], Sequence[Exchange]]:
    """What is not true of the path's row, and the exchanges with the model."""
    folder = OUTPUT / path.name
    folder.mkdir(parents=True, exist_ok=True)
    results, recorder = folder / "results.json", Recorder(upstream)
    results.unlink(missing_ok=True)
    async with served(recorder.app()) as url:
        endpoint = f"{url}/v1"
        model = {
            "AGENTBEATS_LLM_API_KEY": "none",
            "AGENTBEATS_LLM_BASE_URL": endpoint,
            "AGENTBEATS_LLM_MODEL": MODEL,
            "AGENTBEATS_LLM_TIMEOUT_S": "600",
        }
        env = {name: value for name, value in os.environ.items() if not name.startswith("AGENTBEATS_LLM_")}
        folders = UNRULED if path.unruled else FOLDERS
        env |= {"CONCORD_SCENARIO_FOLDERS": str(folders)} | ({**model, **path.env} if path.env else {})
        ran = await asyncio.create_subprocess_exec(
            *(str(CONCORD), "run", str(_scenario(path, folder, folders, endpoint)), "-o", str(results)),
            env=env,
            stdout=(folder / "output.txt").open("wb"),
            stderr=subprocess.STDOUT,
        )
        try:
            code = await asyncio.wait_for(ran.wait(), TIME_LIMIT_S)
        except TimeoutError:
            return [f"no row after {TIME_LIMIT_S} s"], recorder.kept
        finally:
            if ran.returncode is None:
                ran.terminate()
                await ran.wait()
    lines = (f"{each.line()}\n" for each in recorder.kept)
    (folder / "exchanges.jsonl").write_text("".join(lines), encoding="utf-8")
    if code or not results.exists():
        return [f"exit code {code}, see {folder / 'output.txt'}"], recorder.kept
    [row] = read_rows(results)
    return list(path.owes(row, recorder.kept)), recorder.kept


def _scenario(path: ModelPath, folder: Path, folders: Path, endpoint: str) -> Path:
    """The scenario's file or folder."""
    if path.folder:
        return folders / path.folder
    text = path.scenario
    for word, value in {"{endpoint}": endpoint, "{model}": MODEL, "{folders}": str(folders)}.items():
        text = text.replace(word, value)
    scenario = folder / "scenario.toml"
    scenario.write_text(text, encoding="utf-8")
    return scenario


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # so that all programs end
    sys.exit(asyncio.run(main()))
