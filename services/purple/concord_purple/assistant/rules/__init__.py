"""The rule-based assistant: parses the tasks that a user gives in the chat, and performs them without a model."""
