"""Standard files in and out: .ics calendars, .eml mails and mbox mailboxes."""
