"""Personal assistants that Concord ships: one that works by rules, one with a model, and four to measure scenarios."""
