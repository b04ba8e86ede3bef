"""The mailbox: folders, labels, threads by RFC 5322."""
