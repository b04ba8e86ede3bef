"""Compares Concord's verdicts on AgentDojo's tasks with those of AgentDojo's own grader."""
