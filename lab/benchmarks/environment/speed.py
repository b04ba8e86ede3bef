"""The environment: events per second in process and over HTTP, and the cost of an action as the mailbox grows."""

import heapq
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from statistics import median

from concord_environment.core.events import Submission
from concord_environment.core.simulation import Simulation
from concord_environment.environment import new_simulation
from concord_environment.gc_thresholds import raise_gc_thresholds
from concord_environment.modalities.calendar.requests import CreateEvent
from concord_environment.modalities.email import MODALITY
from concord_environment.modalities.email.queries import EmailQuery
from concord_environment.modalities.email.requests import MarkRead, ReceiveEmail
from concord_environment.modalities.email.views import EMAIL_VIEWS
from concord_environment.modalities.modality import StatePage
from concord_environment.modalities.world import EnvironmentWorld
from concord_environment_client import UESClient
from lab.benchmarks.environment.rates import rates_tables
from lab.benchmarks.environment.server import served
from lab.benchmarks.tables import ResultTable

SIZES = (100, 1_000, 10_000, 100_000)
START = datetime(2026, 1, 1, 9, tzinfo=UTC)
REPEATS = 50
ROUNDS = 5
EVENTS, MEETINGS = 10_000, 5_000
PROMISED_S = 0.5
"""For one advance over EVENTS in an environment with EVENTS mails and MEETINGS calendar events."""

World = Simulation[EnvironmentWorld]


def measure(*, soak_s: float) -> list[ResultTable]:  # noqa: ARG001 - see `sections.Measure`
    """All tables of the environment, with the garbage collector configured as in the service."""
    raise_gc_thresholds()
    return [_in_process(), _promised(), _growth(), _over_http(), *rates_tables()]


def _mail(number: int, *, id_given: bool = True) -> ReceiveEmail:
    """A mail; two in three reply to the previous one."""
    return ReceiveEmail(
        from_address=f"sender{number % 50}@example.com",
        to_addresses=("user@example.com",),
        subject=f"Subject {number // 3}",
        body_text="A few words of text, as mails have them. " * 5,
        message_id=f"m{number}@example.com" if id_given else None,
        references=(f"m{number - 1}@example.com",) if number % 3 else (),
    )


def _filled(size: int) -> World:
    simulation = new_simulation(0, START)
    submissions = [Submission(_mail(number), START + timedelta(seconds=number + 1)) for number in range(size)]
    simulation.schedule(submissions)
    return simulation


def _in_process() -> ResultTable:
    return ResultTable(
        "Advance, in process",
        f"CPU of one advance over so many mails, of which two in three answer another; the best of {ROUNDS}. The chain "
        "of hashes is worked out when it is asked for. Beside it the least that any simulation does: a heap alone.",
        ("mails", "advance, s", "µs an event", "events/s", "chain, µs an event", "heap only, µs", "times the heap"),
        [_advanced(size) for size in SIZES],
    )


def _advanced(size: int) -> Sequence[str]:
    advancing, chaining, heaping = [], [], []
    for _ in range(ROUNDS):
        simulation = _filled(size)
        _ = simulation.position
        advancing.append(_cpu_seconds(lambda: simulation.advance((size + 1) * 1_000_000)))  # noqa: B023 - called at once
        chaining.append(_cpu_seconds(lambda: simulation.position))  # noqa: B023 - called at once
        heaping.append(_cpu_seconds(lambda: _heap_only(size)))
    took, chain, heap = min(advancing), min(chaining), min(heaping)
    each = f"{took / size * 1e6:.1f}", f"{size / took:,.0f}", f"{chain / size * 1e6:.1f}", f"{heap / size * 1e6:.2f}"
    return f"{size:,}", f"{took:.3f}", *each, f"{took / heap:,.0f}"


def _promised() -> ResultTable:
    full = _inhabited(EVENTS, MEETINGS)
    there = f"{EVENTS:,} mails, {MEETINGS:,} calendar events"
    in_process = [
        ("nothing; ids given", *_advanced_beside(new_simulation(0, START), id_given=True)),
        (f"{there}; ids given", *_advanced_beside(full, id_given=True)),
        (f"{there}; ids made up", *_advanced_beside(full, id_given=False)),
    ]
    with served(full) as (admin, _):
        over_http = [_ten_thousand(admin) for _ in range(ROUNDS)]
    rows = [
        *in_process,
        (f"{there}; ids made up, the whole request over HTTP", *_best_and_median(over_http), "-"),
    ]
    return ResultTable(
        f"An advance over {EVENTS:,} events, promised in {PROMISED_S} s",
        f"CPU, over HTTP seconds by the clock; {ROUNDS} rounds, over HTTP each on top of those before. The first look "
        "is a page of mails and the next event, right after: the order of what was written is worked out then.",
        ("contents", "best, s", "median, s", "first look, ms"),
        rows,
    )


def _advanced_beside(simulation: World, *, id_given: bool) -> tuple[str, str, str]:
    advancing, looking = [], []
    simulation.set_origin()
    for _ in range(ROUNDS):
        begin, mails = simulation.now, (_mail(EVENTS + number, id_given=id_given) for number in range(EVENTS))
        simulation.schedule(
            [Submission(mail, begin + timedelta(seconds=number + 1)) for number, mail in enumerate(mails)]
        )
        advancing.append(_cpu_seconds(lambda: simulation.advance((EVENTS + 1) * 1_000_000)))
        looking.append(_cpu_seconds(lambda: _look(simulation)))
        simulation.rewind()
    return *_best_and_median(advancing), f"{min(looking) * 1e3:.0f}"


def _look(simulation: World) -> None:
    EMAIL_VIEWS.state(simulation.world, simulation.now, StatePage(limit=20))
    simulation.next_event()


def _best_and_median(took: Sequence[float]) -> tuple[str, str]:
    return f"{min(took):.3f}", f"{median(took):.3f}"


def _heap_only(size: int) -> None:
    """The minimum that any simulation does: pushes each event through a heap."""
    heap = [(number, 0, number) for number in range(size)]
    heapq.heapify(heap)
    while heap:
        heapq.heappop(heap)


def _growth() -> ResultTable:
    return ResultTable(
        "An action as the mailbox grows, in process",
        f"Microseconds of CPU, the median of {REPEATS}; a page is of 20 mails.",
        ("mails", "receive", "mark read", "query by sender", "query unread", "state, a page"),
        [_at_size(size) for size in SIZES],
    )


def _at_size(size: int) -> Sequence[str]:
    simulation = _filled(size)
    simulation.advance((size + 1) * 1_000_000)
    world, numbers = simulation.world, iter(range(size, size + 10_000))
    by_sender, unread = EmailQuery(from_address="sender7@", limit=20), EmailQuery(is_read=False, limit=20)
    return (
        f"{size:,}",
        _each(lambda: simulation.act(Submission(_mail(next(numbers)), simulation.now))),
        _each(lambda: simulation.act(Submission(MarkRead(message_id="m1@example.com"), simulation.now))),
        _each(lambda: MODALITY.answer(world, simulation.now, by_sender), 5),
        _each(lambda: MODALITY.answer(world, simulation.now, unread), 5),
        _each(lambda: EMAIL_VIEWS.state(world, simulation.now, StatePage(limit=20))),
    )


def _over_http() -> ResultTable:
    with served(_inhabited(EVENTS, MEETINGS)) as (admin, agent):
        mail = {"to_addresses": ["bob@example.com"], "subject": "Hello", "body_text": "there"}
        rows: list[tuple[str, Callable[[], object]]] = [
            ("GET /simulation/status", lambda: admin.simulation.status()),
            ("POST /email/send, queued", lambda: agent.email.send(**mail)),
            ("POST /email/send, at once", lambda: admin.email.send(**mail)),
            ("POST /email/read", lambda: admin.email.mark_read(message_id="m1@example.com")),
            ("POST /email/query, unread, 20", lambda: agent.email.query(is_read=False, limit=20)),
            ("GET /email/state, 20", lambda: agent.email.get_state(limit=20)),
            ("GET /email/state, 500", lambda: agent.email.get_state(limit=500)),
            ("GET /email/state, all", lambda: agent.email.get_state()),
            ("POST /calendar/query, a week", lambda: agent.calendar.query(**_week())),
            ("POST /simulator/time/advance, 1 s", lambda: admin.time.advance(seconds=1)),
        ]
        took = [(name, f"{median(_seconds(call) for _ in range(REPEATS)) * 1e3:.2f}") for name, call in rows]
    return ResultTable(
        "Over HTTP",
        f"One caller over the loopback, {EVENTS:,} mails and {MEETINGS:,} calendar events; the median of {REPEATS}.",
        ("call", "ms"),
        took,
    )


def _week() -> dict[str, object]:
    return {"start": START + timedelta(days=30), "end": START + timedelta(days=37), "expand_recurring": True}


def _ten_thousand(admin: UESClient) -> float:
    now = admin.time.get_state().current_time
    for batch in range(10):
        events = [
            {
                "scheduled_time": now + timedelta(seconds=batch * 1_000 + number + 1),
                "modality": "email",
                "data": {"operation": "receive", "from_address": "a@b.example", "to_addresses": ["user@example.com"]},
            }
            for number in range(1_000)
        ]
        admin.events.create_batch(events=events)
    return _seconds(lambda: admin.time.advance(seconds=10_001))


def _inhabited(mails: int, meetings: int) -> World:
    """A simulation that starts with mails and calendar events."""
    simulation = _filled(mails)
    simulation.schedule([Submission(_meeting(number), START + timedelta(seconds=1)) for number in range(meetings)])
    simulation.advance((mails + 1) * 1_000_000)
    simulation.set_origin()
    return simulation


def _meeting(number: int) -> CreateEvent:
    """Every tenth meeting is a weekly series."""
    start = START + timedelta(hours=number)
    weekly = {"frequency": "weekly", "end_type": "count", "count": 10} if number % 10 == 0 else None
    return CreateEvent.model_validate(
        {"title": f"Meeting {number}", "start": start, "end": start + timedelta(minutes=30), "recurrence": weekly}
    )


def _seconds(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def _cpu_seconds(call: Callable[[], object]) -> float:
    begun = time.process_time()
    call()
    return time.process_time() - begun


def _each(call: Callable[[], object], repeats: int = REPEATS) -> str:
    return f"{median(_cpu_seconds(call) for _ in range(repeats)) * 1e6:,.0f}"
