"""The protocol of diagnosis: `python -m lab.diagnosis FOLDER…`, each folder a corpus. See `docs/diagnosis.md`.

`--freeze` writes the digest of the rules that the corpora are measured with. Exit status 1: the rules are not the
frozen ones, more than 5 % of successes are accused, or names of agents matter. `--judge` asks the configured model
(AGENTBEATS_LLM_API_KEY, _BASE_URL, _MODEL) about labelled failures instead, as `concord explain --judge` does.
"""

import argparse
import asyncio
import sys
from pathlib import Path
from typing import Final

from pydantic import ValidationError
from rich.console import Console
from rich.text import Text

from concord.judging.model_answer import EVIDENCE
from concord.llm import LLMSettings
from concord_evaluator.judge.trial_judge import MAX_TOKENS
from lab.diagnosis.frozen import FILE, digest_of_rules
from lab.diagnosis.labels import labels_in
from lab.diagnosis.measures import against_labels, against_outcomes, cases_in, changed_by_renaming
from lab.diagnosis.opinions import asked_about, opinions_against_labels
from tests.kit.packages import research_formats

MAX_ACCUSED: Final = 0.05


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.diagnosis")
    parser.add_argument("corpora", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--freeze", action="store_true", help="freeze the rules as they are")
    parser.add_argument("--judge", action="store_true", help="ask a model about the labelled failures")
    parser.add_argument(
        "--sample", type=int, metavar="N", help="with --judge: so many of a corpus; all without, or until Ctrl-C"
    )
    parser.add_argument("--budget", type=int, default=EVIDENCE, metavar="N", help="with --judge: characters of a run")
    parser.add_argument("--tokens", type=int, default=MAX_TOKENS, metavar="N", help="with --judge: of an answer")
    arguments = parser.parse_args()
    if arguments.judge:
        with research_formats():
            for folder in arguments.corpora:
                asyncio.run(_asked(folder, arguments.sample, arguments.budget, arguments.tokens))
        return 0
    digest = digest_of_rules()
    if arguments.freeze:
        FILE.write_text(f"{digest}\n", encoding="utf-8")
    frozen = FILE.read_text(encoding="utf-8").strip()
    _say(f"rules {digest}" + ("" if digest == frozen else f", not the frozen ones ({frozen})"))
    with research_formats():
        return int(any([digest != frozen, *[_measured(folder) for folder in arguments.corpora]]))


def _say(line: str) -> None:
    Console().print(Text(line), soft_wrap=True)


async def _asked(folder: Path, sample: int | None, budget: int, max_tokens: int) -> None:
    """Asks the configured model about a corpus, and prints its opinions beside the labels and chance."""
    settings = LLMSettings()
    asked = asked_about(cases_in(folder), list(labels_in(folder)), sample)
    _say(
        f"\n{folder.name}: {settings.model} on {len(asked)} labelled failures, "
        f"{budget:,} characters of each, answers of {max_tokens:,} tokens"
    )
    async for name, value in opinions_against_labels(asked, settings, budget, max_tokens):
        _say(f"  {name:<52} {value}")


def _measured(folder: Path) -> bool:
    """Prints the measures of a corpus. Returns whether it misses a goal."""
    cases = cases_in(folder)
    _say(f"\n{folder.name}: {len(cases)} traces")
    for name, value in against_outcomes(cases):
        _say(f"  {name:<52} {value}")
    try:
        labels = list(labels_in(folder))
    except ValidationError:
        labels = []
    for name, value in against_labels(cases, labels) if labels else ():
        _say(f"  {name:<52} {value}")
    changed = changed_by_renaming(cases)
    _say(f"  {'traces changed by other names of the agents':<52} {changed}")
    succeeded = [case for case in cases if case.trace.task_success == 1]
    accused = sum(bool(case.found.causes) for case in succeeded)
    return changed > 0 or accused > MAX_ACCUSED * len(succeeded)


if __name__ == "__main__":
    sys.exit(main())
