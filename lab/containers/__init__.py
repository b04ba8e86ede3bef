"""Assessments of agents in containers while parts fail."""
