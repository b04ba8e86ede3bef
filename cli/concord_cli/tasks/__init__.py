"""`concord tasks`: the tasks that need a team, to look at, to generate again, and to grade by hand."""
