"""Who is to blame in the user's own tasks, as far as the calls that the gateway observed show it. Pure."""

from concord_evaluator.own_tasks.answer_causes import causes_of_trial

__all__ = ["causes_of_trial"]
