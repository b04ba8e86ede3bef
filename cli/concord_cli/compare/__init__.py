"""`concord compare`: compares teams on the tasks that they share."""
