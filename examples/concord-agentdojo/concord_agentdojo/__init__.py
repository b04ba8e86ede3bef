"""AgentDojo's workspace suite as scenarios of Concord's assistants."""
