"""Runs in the forms of Who&When and CooperBench, of which tests make failed ones."""

from typing import Any

LABELS = {"mistake_agent": "Counter", "mistake_step": "2", "mistake_reason": "It counted twice.", "ground_truth": "8"}
SCRIPT = "Let us run this:\n```python\nprint(2)\n```\nand\n```sh\nls\n```"


def said(name: str, content: str) -> dict[str, str]:
    return {"name": name, "role": "user", "content": content}


GROUP_CHAT: dict[str, Any] = {
    "is_correct": False,
    "question": "How many clients?",
    "question_ID": "q-1",
    "level": "2",
    "history": [
        said("Reader", SCRIPT),
        said("Terminal", "exitcode: 1 (execution failed)\nCode output: no file"),
        said("Counter", "I count **4**. TERMINATE"),
        said("Terminal", "There is no code from the last 1 message for me to execute."),
        said("Counter", "TERMINATE"),
    ],
    "system_prompt": {"Reader": "Read.", "Counter": "Count.", "Checker": "Check."},
    **LABELS,
}


def message(sender: str, receiver: str, text: str, at: float = 1_700_000_000.5) -> dict[str, Any]:
    return {"from": sender, "to": receiver, "message": text, "timestamp": at, "feature_id": 1, "kind": "CLAIM"}


PATCH = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"
COOPERBENCH_RUN = {"run_name": "one", "setting": "coop", "repo": "tool_task", "task_id": 7, "features": [1, 2]}
AGENTS = {"agent1": {"feature_id": 1, "status": "Submitted"}, "agent2": {"feature_id": 2, "status": "Submitted"}}

COOPERBENCH_FILES: dict[str, Any] = {
    "conversation.json": [
        message("agent1", "agent2", "I take a."),
        message("agent2", "agent1", "I take b.") | {"feature_id": 2},
    ],
    "eval.json": {"both_passed": True, "merge": {"status": "clean"}, "error": None},
    "result.json": {**COOPERBENCH_RUN, "agents": AGENTS},
    "agent1.patch": PATCH,
    "agent2.patch": PATCH + PATCH.replace("x.py", "y.py"),
    "agent1_traj.json": "not read",
}

MINE = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n a\n-b\n+mine\n"
YOURS = MINE.replace("mine", "yours")

GRADES = {
    "both_passed": False,
    "merge": {"status": "conflicts"},
    "feature1": {"feature_id": 1, "passed": False},
    "feature2": {"feature_id": 2, "passed": False},
    "feature1_independent": {"passed": True},
    "feature2_independent": {"passed": True},
}
