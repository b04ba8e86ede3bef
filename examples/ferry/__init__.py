"""A team with a task of its own: a desk that asks two clerks when the last ferry leaves."""
