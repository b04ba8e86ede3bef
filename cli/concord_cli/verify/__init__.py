"""`concord verify` and `concord verify --sign`: check results against their bundles, and check or write signatures."""
