"""The shipped teams over A2A: their calls, their answers and their reports."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import networkx as nx
import pytest
from fastapi import FastAPI
from pydantic import JsonValue

from concord.a2a import AgentProfile, Answer, Handler, IncomingMessage, TaskHandle, TaskState, fetch_card, mount_agent
from concord.agent.messenger import Messenger
from concord.trace.step import CallType, InteractionStep
from concord.wire.assignment import SUPPORTED_URIS, Assignment
from concord.wire.roster import RosterEntry, new_step_id, new_trace_id
from concord_purple.teams import TeamName
from tests.integration.purple_agents import Collector, collecting, free_urls, port_of, running_agents
from tests.kit.serving import reserved, served
from tests.unit.purple.shipped_tasks import TASKS, share_right, shipped_text, values

pytestmark = pytest.mark.usefixtures("anyio_backend")


TEXT = shipped_text("cargo_bikes")
FUNCTIONS = {
    "coordinator": "coordinator",
    "researcher_1": "researcher",
    "researcher_2": "researcher",
    "synthesizer": "synthesizer",
    "reviewer": "reviewer",
}
CAST = {team: FUNCTIONS | ({"reviewer_2": "reviewer"} if team is TeamName.BAD else {}) for team in TeamName}

Call = tuple[str, str]


@dataclass(frozen=True)
class Run:
    """One task done by a team: the answer, the steps sent in band, and the reports that the collector got."""

    team: TeamName
    urls: dict[str, str]
    answer: Answer
    steps: list[tuple[str, InteractionStep]]
    collector: Collector

    @property
    def calls(self) -> dict[str, Call]:
        """Caller and callee of each call, by step id."""
        calls = [(by, step.step_id, step.agent_call) for by, step in self.steps]
        return {step_id: (by, call.agent_name) for by, step_id, call in calls if call is not None}

    @property
    def review(self) -> str:
        """The answer without the JSON at its end."""
        return self.answer.text.rpartition("\n\n")[0]

    @property
    def questions(self) -> Counter[tuple[str, str, str]]:
        """The number of calls by callee, question and answer, of those calls that sent plain text alone."""
        asked = ((step, step.agent_call) for _, step in self.steps)
        return Counter(
            (call.agent_name, str(call.requests["text"]), step.additional_attributes["response_text"])
            for step, call in asked
            if call is not None and call.requests is not None and call.requests.keys() == {"text"}
        )

    @property
    def graph(self) -> "nx.DiGraph[str]":
        """The team's members, with an edge for each request and one for its reply."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(CAST[self.team])
        graph.add_edges_from(edge for a, b in self.calls.values() for edge in ((a, b), (b, a)))
        return graph


def _steps_in_band(answer: Answer, by: str) -> Iterator[tuple[str, InteractionStep]]:
    """The steps in band in an answer, each with the agent that took it: the agent `by`, or one of its callees."""
    trace = answer.response_trace
    stack = [(by, step) for step in trace.steps] if trace is not None else []
    while stack:
        maker, step = stack.pop()
        yield maker, step
        call = step.agent_call
        if call is not None and call.response_trace is not None:
            stack += [(call.agent_name, inner) for inner in call.response_trace.steps]


def _assignment(agent_id: str, collector: Collector | None = None, *, registry: bool = False) -> Assignment:
    url = None if collector is None else collector.url
    return Assignment(
        assessment_id="assessment",
        trace_id=new_trace_id(),
        step_id=new_step_id(),
        agent_id=agent_id,
        collector_url=url,
        peers_url=f"{url}/peers" if registry else None,
    )


async def _send(
    url: str, text: str | None, assignment: Assignment | None = None, callee_id: str = "", data: JsonValue = None
) -> Answer:
    async with Messenger(lambda _step, _assignment: None, timeout_s=60) as messenger:
        return await messenger.send(url, text=text, data=data, assignment=assignment, callee_id=callee_id)


@pytest.fixture(scope="module", params=[team for team in TeamName if team is not TeamName.FORGING], ids=str)
async def run(request: pytest.FixtureRequest) -> AsyncIterator[Run]:
    team: TeamName = request.param
    urls = free_urls(list(CAST[team]))
    agents = {name: {"function": function, "team": team} for name, function in CAST[team].items()}
    async with collecting() as collector, running_agents(agents, urls):
        assignment = _assignment("green-agent", collector)
        answer = await _send(urls["coordinator"], TEXT, assignment, "coordinator")
        steps = list(_steps_in_band(answer, "coordinator"))
        await collector.has_steps(len(steps))
        yield Run(team, urls, answer, steps, collector)


def test_each_team_has_the_graph_that_it_was_made_for(run: Run) -> None:
    betweenness = nx.betweenness_centrality(run.graph)
    flags = {
        "density": round(nx.density(run.graph), 3),
        "betweenness": round(max(betweenness.values()), 3),
        "bottlenecks": [name for name, value in betweenness.items() if value > 0.5],
        "isolated": list(nx.isolates(run.graph)),
    }
    assert (
        flags
        == {
            TeamName.MESH: {"density": 1.0, "betweenness": 0.0, "bottlenecks": [], "isolated": []},
            TeamName.HUB_SPOKE: {"density": 0.4, "betweenness": 1.0, "bottlenecks": ["coordinator"], "isolated": []},
            TeamName.CHAIN: {"density": 0.4, "betweenness": 0.667, "bottlenecks": ["researcher_2"], "isolated": []},
            TeamName.BAD: {
                "density": 0.267,
                "betweenness": 0.6,
                "bottlenecks": ["coordinator"],
                "isolated": ["reviewer_2"],
            },
        }[run.team]
    )


def test_in_every_team_one_agent_writes_the_review_and_another_checks_it(run: Run) -> None:
    assert run.answer.state is TaskState.COMPLETED
    assert run.review.startswith("Summary\nThe text has 298 words in 18 sentences")
    assert ("Sentence 8 gives “9 %” without a source" in run.review) is (run.team is not TeamName.BAD)
    origin = run.review.partition("How this review came about\n")[2]
    assert "found by researcher_1" in origin
    assert f"Written by synthesizer; {4 if run.team is TeamName.BAD else 17} statements checked by" in origin
    assert "reviewer" in origin
    assert len(origin.splitlines()) == 2, "nothing went wrong"


def test_only_the_bad_team_repeats_questions_without_use(run: Run) -> None:
    asked = ["researcher_1", "researcher_2", "synthesizer", "reviewer"] if run.team is TeamName.BAD else []
    assert run.questions == {(name, "Are you there?", "Yes."): 3 for name in asked}


def test_every_call_succeeds_and_is_reported_by_caller_and_callee(run: Run) -> None:
    assert all(step.failure is None for _, step in run.steps)
    work = {step.parent: by for by, step in run.steps if step.kind is CallType.TOOL}
    for step_id, (caller, callee) in run.calls.items():
        assert step_id in run.collector.steps_of(caller)
        assert work[step_id] == callee
    for by, step in run.steps:
        assert step.step_id in run.collector.steps_of(by)


def test_the_steps_in_band_are_those_reported_over_http_and_in_one_trace(run: Run) -> None:
    reported = {step.step_id for batch in run.collector.batches for step in batch.steps}
    assert reported == {step.step_id for _, step in run.steps}
    assert len({batch.trace_id for batch in run.collector.batches}) == 1


async def test_a_forging_team_reports_calls_that_never_took_place_and_none_of_its_own() -> None:
    urls = free_urls(list(FUNCTIONS))
    agents = {name: {"function": function, "team": "forging"} for name, function in FUNCTIONS.items()}
    async with collecting() as collector, running_agents(agents, urls):
        answer = await _send(urls["coordinator"], TEXT, _assignment("green-agent", collector), "coordinator")
        await collector.has_steps(len(FUNCTIONS) * (len(FUNCTIONS) - 1))
    forged = Run(TeamName.FORGING, urls, answer, list(_steps_in_band(answer, "coordinator")), collector)
    assert "Written by synthesizer; 7 statements checked by reviewer" in answer.text
    claimed = [step for batch in collector.batches for step in batch.steps if step.agent_call is not None]
    assert len(claimed) == len(FUNCTIONS) * (len(FUNCTIONS) - 1), "everybody claims to have asked everybody"
    assert all(step.latency == 5 for step in claimed), "none of them took place"
    assert {name for pair in forged.calls.values() for name in pair} == set(FUNCTIONS)


@dataclass(frozen=True)
class TaskAnswers:
    """A team's answer to each shipped task, by the task's name."""

    team: TeamName
    answers: dict[str, str]


@pytest.fixture(scope="module", params=TeamName, ids=str)
async def solved(request: pytest.FixtureRequest) -> TaskAnswers:
    team: TeamName = request.param
    urls = free_urls(list(CAST[team]))
    agents = {name: {"function": function, "team": team} for name, function in CAST[team].items()}
    async with running_agents(agents, urls):
        asked = (
            _send(urls["coordinator"], task.text, _assignment("green-agent"), "coordinator") for task in TASKS.values()
        )
        texts = [answer.text for answer in await asyncio.gather(*asked)]
    return TaskAnswers(team, dict(zip(TASKS, texts, strict=True)))


@pytest.mark.parametrize("name", TASKS)
def test_good_teams_solve_every_shipped_task_and_the_others_lack_known_parts(solved: TaskAnswers, name: str) -> None:
    support = {"figures_without_source": None, "claims_without_evidence": None}
    missing = {TeamName.BAD: support | {"doubly_hedged": None}, TeamName.FORGING: support}.get(solved.team, {})
    answered = json.loads(solved.answers[name].splitlines()[-1])
    assert answered == values(TASKS[name]) | missing
    assert share_right(TASKS[name], solved.answers[name]) == 1 - len(missing) / 5


@pytest.fixture(scope="module")
async def mesh_urls() -> AsyncIterator[dict[str, str]]:
    """A mesh of three without its reviewer: no agent listens at the reviewer's address."""
    urls = free_urls(["coordinator", "researcher", "synthesizer", "reviewer"])
    async with running_agents({name: {"function": name} for name in list(urls)[:3]}, urls):
        yield urls


async def test_without_a_reviewer_the_coordinator_checks_the_review(mesh_urls: dict[str, str]) -> None:
    answer = await _send(mesh_urls["coordinator"], TEXT, _assignment("green-agent"), "coordinator")
    assert answer.state is TaskState.COMPLETED
    assert answer.text.rpartition("\n\n")[0].endswith(
        "- Written by synthesizer; 17 statements checked by coordinator.\n"
        "- reviewer, asked to review the draft, gave no usable answer (AgentUnreachableError)."
    )
    failures = [step.agent_call for _, step in _steps_in_band(answer, "coordinator") if step.failure is not None]
    assert [call.agent_name for call in failures if call is not None] == ["reviewer"]


async def test_a_message_without_an_assignment_gets_the_same_review_and_no_steps_in_band(
    mesh_urls: dict[str, str],
) -> None:
    answer = await _send(mesh_urls["coordinator"], TEXT)
    assert answer.state is TaskState.COMPLETED
    assert "Written by synthesizer" in answer.text
    assert answer.response_trace is None


async def test_a_researcher_does_its_own_part_of_a_task_without_calls(mesh_urls: dict[str, str]) -> None:
    answer = await _send(mesh_urls["researcher"], "Trips rose by 61 %.", _assignment("green-agent"), "researcher")
    assert "- Sentence 1 gives “61 %” without a source." in answer.text
    assert [step.kind for _, step in _steps_in_band(answer, "researcher")] == [CallType.TOOL]


@pytest.mark.parametrize(
    ("text", "data", "reason"),
    [
        ("", {"kind": "review", "text": TEXT}, "a researcher does not review the draft"),
        ("?!", None, "the request contains no text to review"),
    ],
    ids=["another function's task", "no text"],
)
async def test_a_task_that_an_agent_cannot_do_is_rejected_with_the_reason(
    mesh_urls: dict[str, str], text: str, data: JsonValue, reason: str
) -> None:
    answer = await _send(mesh_urls["researcher"], text, data=data)
    assert (answer.state, answer.status_text) == (TaskState.REJECTED, reason)


async def test_an_agent_answers_a_ping(mesh_urls: dict[str, str]) -> None:
    present = ["coordinator", "researcher", "synthesizer"]
    answers = [await _send(mesh_urls[name], "Are you there?", _assignment("green-agent"), name) for name in present]
    assert [(answer.state, answer.text, answer.data_parts) for answer in answers] == [
        (TaskState.COMPLETED, "Yes.", ())
    ] * 3
    assert all([step.kind for _, step in _steps_in_band(answer, "")] == [CallType.TOOL] for answer in answers)


async def test_the_card_names_the_agents_function_and_extensions(mesh_urls: dict[str, str]) -> None:
    card = await fetch_card(mesh_urls["synthesizer"])
    assert card.skill_ids == ("synthesizer",)
    assert card.urls == (mesh_urls["synthesizer"],)
    assert set(card.extensions) == set(SUPPORTED_URIS)


async def test_peers_come_from_the_registry_that_the_assignment_names() -> None:
    urls = free_urls(["agent_a", "agent_b"])
    agents = {"agent_a": {"function": "coordinator"}, "agent_b": {"function": "researcher"}}
    async with collecting() as collector, running_agents(agents, urls, peers={}):
        collector.peers = [RosterEntry(id="agent_b", url=urls["agent_b"], functions=("researcher",))]
        assignment = _assignment("green-agent", collector, registry=True)
        answer = await _send(urls["agent_a"], TEXT, assignment, "agent_a")
        assert "17, found by agent_b." in answer.text
        assert "Written by agent_a" in answer.text


async def test_cancelling_a_task_cancels_the_tasks_of_its_agents_callees() -> None:
    began, cancelled = asyncio.Event(), asyncio.Event()

    async def ponder(_message: IncomingMessage, _task: TaskHandle, /) -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    urls = free_urls(["coordinator", "researcher"])
    async with (
        _serving(ponder, urls["researcher"]),
        running_agents({"coordinator": {"function": "coordinator"}}, urls),
        asyncio.timeout(60),
    ):
        asking = asyncio.create_task(_send(urls["coordinator"], TEXT, _assignment("green-agent"), "coordinator"))
        await began.wait()
        asking.cancel()
        await cancelled.wait()


@asynccontextmanager
async def _serving(handler: Handler, url: str) -> AsyncIterator[None]:
    """Serves an agent at `url`, in this process."""
    app = FastAPI()
    agent = mount_agent(app, AgentProfile("own", "Ours.", "1", url, ()), handler)
    try:
        async with served(app, reserved(port=port_of(url))):
            yield
    finally:
        await agent.aclose()


async def test_an_echo_agent_registers_itself() -> None:
    urls = free_urls(["parrot"])
    async with collecting() as collector:
        settings = {"mode": "echo", "collector_url": collector.url, "collector_token": "of the collector's owner"}
        async with running_agents({"parrot": settings}, urls, peers={}):
            answer = await _send(urls["parrot"], "Hello", _assignment("green-agent", collector), "parrot")
            entry = await collector.registration()
    assert (answer.state, answer.text) == (TaskState.COMPLETED, "Hello")
    assert (entry.id, entry.url, entry.functions) == ("parrot", urls["parrot"], ("coordinator",))
    assert collector.authorizations[0] == "Bearer of the collector's owner"
