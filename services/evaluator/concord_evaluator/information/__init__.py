"""What the messages of a team prove: who knew which fact when, and where an answer went wrong."""
