"""Formats of research sets, read as they were released: MARBLE, CooperBench, Who&When and AgentDojo."""
