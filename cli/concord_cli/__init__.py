"""The front door: the command line and the local stack."""
