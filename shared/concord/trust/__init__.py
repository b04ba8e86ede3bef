"""Trust: tokens and keys, redaction of secrets, and the addresses that may be contacted."""
