"""Wrong answers that look like other faults than they are, or are nobody's: values that are derived, chosen, free."""

import random
from collections.abc import Callable
from typing import Final

from tests.kit.own_tasks.faults import Planted, Script, Team
from tests.kit.own_tasks.teams import Recording, played


def free_text(draw: random.Random) -> Planted:
    """The answer is right, and the target is a text that the scorer does not find."""
    team = Team.drawn(draw)
    planted = Script(team).planted()
    return _with_target(planted, f"Everybody should know that {team.question.subject.lower()} {team.question.right}.")


def other_form(draw: random.Random) -> Planted:
    """The answer is right, and the scorer wants it in another form."""
    planted = Script(Team.drawn(draw)).planted()
    return _with_target(planted, planted.target, {"name": "exact"})


def wrong_sum(draw: random.Random) -> Planted:
    """Each helper counts its part; the first agent adds them wrongly."""
    agents, counts = _counted(draw)
    return _asked_by_first(
        agents,
        "How many trees stand in the park?",
        {agent: f"My part of the park has {counts[agent]} trees." for agent in agents[1:]},
        f"There are {sum(counts.values()) + draw.choice((-100, 9, 90))} trees.",
        str(sum(counts.values())),
        {agents[0]},
    )


def wrong_part(draw: random.Random) -> Planted:
    """Each helper counts its part, one of them wrongly."""
    agents, counts = _counted(draw)
    wrong = draw.choice(agents[1:])
    told = counts | {wrong: counts[wrong] + 37}
    return _asked_by_first(
        agents,
        "How many trees stand in the park?",
        {agent: f"My part of the park has {told[agent]} trees." for agent in agents[1:]},
        f"There are {sum(told.values())} trees.",
        str(sum(counts.values())),
        {wrong},
    )


def one_part_for_all(draw: random.Random) -> Planted:
    """Each helper counts its part; the first agent gives one part as the whole."""
    agents, counts = _counted(draw)
    part = counts[draw.choice(agents[1:])]
    return _asked_by_first(
        agents,
        "How many trees stand in the park?",
        {agent: f"My part of the park has {counts[agent]} trees." for agent in agents[1:]},
        f"There are {part} trees.",
        str(sum(counts.values())),
        {agents[0]},
    )


def wrong_choice(draw: random.Random) -> Planted:
    """Each helper states the price of its hotel; the first agent does not name the cheapest."""
    agents = _agents(draw)
    towns = draw.sample(["Bergen", "Girona", "Tartu", "Coimbra", "Utrecht", "Ostrava", "Varese", "Kaunas"], len(agents))
    prices = sorted(draw.sample(range(100, 999), len(agents) - 1))
    said = {
        agent: f"The hotel in {town} costs {price} euros."
        for agent, town, price in zip(agents[1:], towns, prices, strict=False)
    }
    return _asked_by_first(
        agents, "In which town is the cheapest hotel?", said, f"It is in {towns[1]}.", towns[0], {agents[0]}
    )


def choice_of_too_few(draw: random.Random) -> Planted:
    """The same, and the helper with the cheapest hotel is not asked."""
    agents = _agents(draw)
    towns = draw.sample(["Bergen", "Girona", "Tartu", "Coimbra", "Utrecht", "Ostrava", "Varese", "Kaunas"], len(agents))
    prices = sorted(draw.sample(range(100, 999), len(agents) - 1))
    said = {
        agent: f"The hotel in {town} costs {price} euros."
        for agent, town, price in zip(agents[2:], towns[1:], prices[1:], strict=False)
    }
    return _asked_by_first(
        agents, "In which town is the cheapest hotel?", said, f"It is in {towns[1]}.", towns[0], set(agents[:2])
    )


def latest_of_too_few(draw: random.Random) -> Planted:
    """Each helper states when its last bus leaves; the one with the latest is not asked."""
    agents = _agents(draw)
    times = [f"{hour}:{draw.randrange(31, 59)}" for hour in sorted(draw.sample(range(10, 24), len(agents) - 1))]
    said = {agent: f"My last bus leaves at {time}." for agent, time in zip(agents[1:-1], times, strict=False)}
    return _asked_by_first(
        agents, "When does the last bus of all leave?", said, f"At {times[-2]}.", times[-1], {agents[0], agents[-1]}
    )


def departure_for_arrival(draw: random.Random) -> Planted:
    """A helper states departure and duration; the first agent answers with the departure."""
    agents, hour, minute, lasts = _agents(draw), draw.randrange(10, 20), draw.randrange(1, 29), draw.randrange(61, 120)
    arrival = divmod(hour * 60 + minute + lasts, 60)
    said = {agents[1]: f"The train leaves at {hour}:{minute:02} and takes {lasts} minutes."}
    said |= dict.fromkeys(agents[2:], "I know nothing about trains.")
    return _asked_by_first(
        agents,
        "When does the train arrive?",
        said,
        f"It arrives at {hour}:{minute:02}.",
        f"{arrival[0]}:{arrival[1]:02}",
        {agents[0]},
    )


def other_timetable(draw: random.Random) -> Planted:
    """A helper lists several departures; the first agent picks a wrong one."""
    agents = _agents(draw)
    right, wrong, other = (f"{hour}:{draw.randrange(31, 59)}" for hour in draw.sample(range(10, 24), 3))
    said = {agents[1]: f"Departures: line 1 at {wrong}, line 2 at {right}, line 3 at {other}."}
    said |= dict.fromkeys(agents[2:], "I know nothing about trains.")
    return _asked_by_first(agents, "When does line 2 leave?", said, f"Line 2 leaves at {wrong}.", right, {agents[0]})


def paraphrased(draw: random.Random) -> Planted:
    """A coordinator passes the right time on in words; the first agent misreads them."""
    agents, hour, minute = _agents(draw), draw.randrange(13, 20), draw.choice((35, 40, 50, 55))
    right = f"{hour}:{minute}"
    words = f"It leaves {60 - minute} minutes before {(hour + 1) % 12 or 12}."

    def work(recording: Recording) -> str:
        recording.call(
            agents[0],
            agents[1],
            "When does the bus leave?",
            lambda: (
                recording.call(agents[1], agents[2], "When does the bus leave?", lambda: f"The bus leaves at {right}.")
                and words
            ),
        )
        return f"It leaves at {hour + 1}:{60 - minute:02}."

    outcome, batches = played(agents[0], "When does the bus leave?", work)
    agents = agents[:3]
    return Planted(
        agents, "When does the bus leave?", {"name": "includes"}, right, frozenset({agents[0]}), outcome, batches
    )


def _agents(draw: random.Random) -> tuple[str, ...]:
    return tuple(f"agent-{letter}" for letter in "abcdefgh"[: draw.randrange(3, 9)])


def _counted(draw: random.Random) -> tuple[tuple[str, ...], dict[str, int]]:
    agents = _agents(draw)
    return agents, dict(zip(agents[1:], draw.sample(range(101, 999), len(agents) - 1), strict=True))


def _asked_by_first(
    agents: tuple[str, ...], task: str, said: dict[str, str], answer: str, target: str, at_fault: set[str]
) -> Planted:
    """A trial in which the first agent asks those that say something the question of the task."""

    def work(recording: Recording) -> str:
        for agent, text in said.items():
            recording.call(agents[0], agent, task, lambda text=text: text)  # type: ignore[misc]
        return answer

    outcome, batches = played(agents[0], task, work)
    return Planted(agents, task, {"name": "includes"}, target, frozenset(at_fault), outcome, batches)


def _with_target(planted: Planted, target: str, scorer: dict[str, object] | None = None) -> Planted:
    return Planted(
        planted.agents,
        planted.task,
        scorer or planted.scorer,
        target,
        frozenset(),
        planted.outcome,
        planted.batches,
    )


TRAPS: Final[dict[str, Callable[[random.Random], Planted]]] = {
    "free text": free_text,
    "right, in another form": other_form,
    "added wrongly": wrong_sum,
    "a part counted wrongly": wrong_part,
    "a part for the whole": one_part_for_all,
    "chosen wrongly": wrong_choice,
    "chosen from too few": choice_of_too_few,
    "latest of too few": latest_of_too_few,
    "departure for arrival": departure_for_arrival,
    "the wrong line of a list": other_timetable,
    "misread words": paraphrased,
}
