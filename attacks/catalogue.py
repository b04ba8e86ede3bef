"""Every attack there is, in the order in which they are made."""

from typing import Final

from attacks import answers, bodies, closing, doors, floods, hosts, names, telling, waiting
from attacks.attack import Attack

_MADE: Final = (
    ("own assessment", doors.own_assessment),
    ("task of its own", doors.task_of_its_own),
    ("tasks of others", doors.tasks_of_others),
    ("without token", doors.without_token),
    ("forged token", doors.forged_token),
    ("another trial", doors.another_trial),
    ("closed tokens", closing.closed_tokens),
    ("outliving call", closing.outliving_call),
    ("link-local hosts", hosts.link_local),
    ("own ports", hosts.own_ports),
    ("other ports", hosts.other_ports),
    ("registered hosts", hosts.registered),
    ("redirects", hosts.redirected),
    ("named callees", hosts.named_callees),
    ("rebinding", hosts.rebound),
    ("token in row", telling.in_row),
    ("token in what is kept", telling.in_what_is_kept),
    ("names of participants", names.names_of_participants),
    ("markup in report", names.report_page),
    ("lines in logs", names.lines_in_logs),
    ("judge", names.injected),
    ("large bodies", bodies.too_large),
    ("compressed bombs", bodies.bombs),
    ("deep JSON", bodies.deep_json),
    ("stalled requests", bodies.stalled_requests),
    ("too large a request", bodies.more_than_may_be),
    ("large requests", bodies.as_much_as_may_be),
    ("no answers to calls", answers.no_answers_to_calls),
    ("no answers to tasks", answers.no_answers_to_tasks),
    ("stalled answers", answers.stalled_answers),
    ("one task for all", answers.one_task_for_all),
    ("silence", answers.silence),
    ("calls at once", floods.calls_at_once),
    ("tiny steps", floods.tiny_steps),
    ("claimed latency", floods.claimed_latency),
    ("many assessments", waiting.many_at_once),
)

ATTACKS: Final = tuple(Attack(name, (run.__doc__ or "").strip(), run) for name, run in _MADE)
"""What each does is what its function's docstring says."""
