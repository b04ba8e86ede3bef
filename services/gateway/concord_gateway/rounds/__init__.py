"""The exchange by rounds: the gateway delivers the messages of a team whose members need not call each other."""
