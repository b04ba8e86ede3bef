"""The base participants: teams of A2A agents that really coordinate."""
