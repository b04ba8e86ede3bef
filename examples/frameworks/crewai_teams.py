"""CrewAI crews with scripted models: `crewai_teams.py TEAM INSTRUMENTATION FILE`."""

import json
from typing import Any

from crewai import Agent, BaseLLM, Crew, Process, Task
from opentelemetry.sdk.trace import TracerProvider

from recording import arguments, recorded


class Scripted(BaseLLM):
    """Says the lines of its script in order."""

    def __init__(self, *script: str) -> None:
        super().__init__(model="scripted")
        self._script = list(script)

    def call(self, *_: Any, **__: Any) -> str:
        return self._script.pop(0)

    def supports_function_calling(self) -> bool:
        return False


def _agent(role: str, *script: str, **more: Any) -> Agent:
    return Agent(role=role, goal=f"Be a good {role}.", backstory="None.", llm=Scripted(*script), **more)


def _final(text: str) -> str:
    return f"Thought: I know.\nFinal Answer: {text}"


def _asks(tool: str, **given: str) -> str:
    return f"Thought: Ask.\nAction: {tool}\nAction Input: {json.dumps(given)}"


def sequential() -> Crew:
    """Two tasks of two agents, one after the other."""
    researcher = _agent("Researcher", _final("Bergen."))
    writer = _agent("Writer", _final("A text."))
    return Crew(
        agents=[researcher, writer],
        tasks=[
            Task(description="Find a harbour.", expected_output="A name.", agent=researcher),
            Task(description="Write about it.", expected_output="A text.", agent=writer),
        ],
        tracing=False,
    )


def hierarchical() -> Crew:
    """A manager delegates work to two agents with CrewAI's own tools."""
    researcher = _agent("Researcher", _final("Bergen."))
    writer = _agent("Writer", _final("A text."))
    manager = _agent(
        "Manager",
        _asks("delegate_work_to_coworker", task="Find", context="-", coworker="Researcher"),
        _asks("ask_question_to_coworker", question="Text?", context="-", coworker="Writer"),
        _final("Done."),
        allow_delegation=True,
    )
    return Crew(
        agents=[researcher, writer],
        tasks=[Task(description="Write about a harbour.", expected_output="A text.")],
        process=Process.hierarchical,
        manager_agent=manager,
        tracing=False,
    )


def instrument(instrumentation: str, provider: TracerProvider) -> None:
    """Turns on one instrumentation."""
    if instrumentation == "openinference":
        from openinference.instrumentation.crewai import CrewAIInstrumentor as OpenInference

        OpenInference().instrument(tracer_provider=provider)
    else:
        from opentelemetry.instrumentation.crewai import CrewAIInstrumentor as OpenLLMetry

        OpenLLMetry().instrument(tracer_provider=provider)


TEAMS = {team.__name__: team for team in (sequential, hierarchical)}

if __name__ == "__main__":
    team, instrumentation, path = arguments()
    with recorded(path) as provider:
        instrument(instrumentation, provider)
        TEAMS[team]().kickoff()
