"""Personal assistants that Concord ships: one with a language model, and four to measure scenarios."""
