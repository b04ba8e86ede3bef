"""A free task that nobody can judge: its row and the leaderboard say what is known, whatever the roles are called."""

import json
from pathlib import Path
from typing import Any

from concord.a2a import A2AClient, Answer
from concord.agent.peers import PeerDiscovery
from examples.ferry.__main__ import Clerk
from tests.conformance.test_leaderboard import leaderboard
from tests.kit.serving import served_agent
from tests.kit.stack import stack


async def test_what_is_known_of_an_unjudged_team_leads_and_the_leaderboard_lists_it(
    redis_url: str, tmp_path: Path
) -> None:
    peers = PeerDiscovery({})
    async with (
        peers,
        stack(redis_url, tmp_path) as running,
        served_agent(Clerk("", ["timetable"], peers)) as desk,
        served_agent(Clerk("It leaves at 17:20.", (), peers)) as timetable,
        await A2AClient.connect(running.gateway) as client,
    ):
        participants = {"desk": desk, "timetable": timetable}
        task, config = {"description": "When does the ferry leave?"}, {"quiet_s": 0.1, "closing_cap_s": 0.3}
        text = json.dumps({"participants": participants, "task": task, "config": config})
        [answer] = [event async for event in client.stream(text=text) if isinstance(event, Answer)]
    row: Any = answer.data_parts[0]
    assert (row["score"], row["detail"]["scoring"]["unjudged"]) == (None, 1)
    assert row["detail"]["reasoning"].startswith("Seen: 2 agents, 1 call between them, 0 failed, ")
    assert answer.status_text.startswith("Seen: 2 agents")
    assert "Not judged: 1 trial" in answer.status_text
    document = {"participants": {"desk": "uuid-d", "timetable": "uuid-t", "concord": "uuid-green"}, "results": [row]}
    [line] = leaderboard(tmp_path / "results", document)
    assert (line["id"], line["Score"], line["Rank"], line["Unjudged"], line["Shards"]) == (
        "uuid-d",
        None,
        None,
        1,
        "1 of 1",
    )
    assert line["Avg Latency (ms)"] is not None
