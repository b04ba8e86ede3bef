"""Rows and pages have the same bytes in every process: no set and no hash decides an order."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
from concord_cli.report.renderer import render
from tests.kit import team_rows
from tests.kit.graphs import chain, mesh, star, with_isolated
from tests.unit.evaluator.test_offline import row_of_team

for team in (star(5), chain(5), mesh(5), with_isolated(star(4))):
    print(row_of_team(team).model_dump_json())
for team in (team_rows.troubled_six, team_rows.mesh_of_five, team_rows.unjudged_and_unseen):
    print(render(team()))
"""


def output_with(hash_seed: int) -> bytes:
    environment = os.environ | {"PYTHONHASHSEED": str(hash_seed)}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, check=True, capture_output=True
    ).stdout


@pytest.mark.programs
def test_every_process_writes_the_same_rows_and_pages() -> None:
    written = output_with(1)
    assert len(written) > 1000
    assert output_with(2) == written
