"""The flow of facts through a team's messages, and the causes of wrong answers."""
