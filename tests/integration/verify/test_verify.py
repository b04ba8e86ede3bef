"""`concord verify` on real runs."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from concord_cli.main import app
from tests.integration.verify.runs import Run, merged

KINDS = ["pattern", "rounds", "calls", "judge", "cached judge", "failed judge", "assistant"]


def verified(results: Path, *options: str) -> tuple[int, str]:
    """The exit code and the output of `concord verify`."""
    done = CliRunner().invoke(app, ["verify", str(results), *options])
    return done.exit_code, done.output


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_of_a_row_follows_from_its_bundle(kind: str, runs: Mapping[str, Run]) -> None:
    code, output = verified(runs[kind].results)
    assert code == 0, output
    assert "Every value of 1 row follows from the bundles" in output
