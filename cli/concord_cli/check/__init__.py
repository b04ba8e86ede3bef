"""`concord gate`: whether a new version of a team is worse than the old one, on the same puzzles."""
