"""The calendar: events that recur by RFC 5545 and invitations that are answered by RFC 5546."""
