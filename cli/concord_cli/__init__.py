"""The command line `concord`, and the local stack that it runs."""
