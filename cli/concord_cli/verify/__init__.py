"""`concord verify` and `concord sign`: check results against their bundles, and check or write signatures."""
