"""Lists, evaluates and watches the traces of an open collector."""
