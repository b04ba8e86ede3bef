"""`concord evaluate`: evaluates traces from files in this process."""
