"""The catalogue of all attacks, in the order in which they are made."""

from typing import Final

from attacks import access, addressees, answers, bodies, closing, collusion, floods, hosts, names, token_leaks, waiting
from attacks.attack import Attack

_FUNCTIONS: Final = (
    ("own assessment", access.own_assessment),
    ("task of its own", access.task_of_its_own),
    ("tasks of others", access.tasks_of_others),
    ("without token", access.without_token),
    ("forged token", access.forged_token),
    ("another trial", access.another_trial),
    ("closed tokens", closing.closed_tokens),
    ("outliving call", closing.outliving_call),
    ("link-local hosts", hosts.link_local),
    ("own ports", hosts.own_ports),
    ("other ports", hosts.other_ports),
    ("registered hosts", hosts.registered),
    ("redirects", hosts.redirected),
    ("named callees", hosts.named_callees),
    ("webhooks", hosts.webhooks),
    ("rebinding", hosts.rebound),
    ("token in row", token_leaks.in_row),
    ("token in storage", token_leaks.in_storage),
    ("names of participants", names.names_of_participants),
    ("markup in report", names.report_page),
    ("lines in logs", names.lines_in_logs),
    ("judge", names.injected),
    ("large bodies", bodies.too_large),
    ("compressed bombs", bodies.bombs),
    ("deep JSON", bodies.deep_json),
    ("stalled requests", bodies.stalled_requests),
    ("request over the limits", bodies.over_the_limits),
    ("requests at the limits", bodies.at_the_limits),
    ("costly expressions", bodies.costly_expressions),
    ("no answers to calls", answers.no_answers_to_calls),
    ("no answers to tasks", answers.no_answers_to_tasks),
    ("stalled answers", answers.stalled_answers),
    ("one task for all", answers.one_task_for_all),
    ("silence", answers.silence),
    ("calls at once", floods.calls_at_once),
    ("tiny steps", floods.tiny_steps),
    ("invented addressees", addressees.invented),
    ("claimed latency", floods.claimed_latency),
    ("shared memory", collusion.shared_memory),
    ("noise", collusion.noise),
    ("quoted briefs", collusion.quoted_briefs),
    ("unseen messages", collusion.unseen_messages),
    ("unseen calls", collusion.unseen_calls),
    ("fewer listed", collusion.fewer_listed),
    ("bad trial censored", collusion.bad_trial_censored),
    ("claimed isolation", collusion.claimed_isolation),
    ("many assessments", waiting.many_at_once),
)

ATTACKS: Final = tuple(Attack(name, (run.__doc__ or "").strip(), run) for name, run in _FUNCTIONS)
"""The description of an attack is its function's docstring."""
