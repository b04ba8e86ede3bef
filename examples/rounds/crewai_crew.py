"""A CrewAI crew in a seat. Needs crewai, and OPENAI_API_KEY."""

import os

from crewai import Agent, Crew, Task

from seat import in_thread, serve_seat

MEMBER = Agent(
    role="member of a team",
    goal="solve the team's task with the others",
    backstory="You work with others whom you can only write to.",
    llm=os.environ.get("MODEL", "gpt-4.1-mini"),
)


def answer(text: str) -> str:
    """One kickoff of the crew per turn."""
    task = Task(description=text.replace("{", "{{").replace("}", "}}"), expected_output="one JSON object", agent=MEMBER)
    return str(Crew(agents=[MEMBER], tasks=[task]).kickoff())


if __name__ == "__main__":
    serve_seat("CrewAI crew", in_thread(answer))
