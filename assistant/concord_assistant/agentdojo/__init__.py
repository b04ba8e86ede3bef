"""AgentDojo's workspace suite as assistants' scenarios."""
