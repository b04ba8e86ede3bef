"""The same secret gives the same task, byte for byte, on every version of Python."""

import json

from tests.kit.players.digests import TABLE, digests


def test_tasks_of_a_known_secret_have_the_digests_of_the_table() -> None:
    # Where a change of a family is meant to change its tasks: `python -m tests.kit.players.digests --write`.
    assert dict(digests()) == json.loads(TABLE.read_text(encoding="utf-8"))
