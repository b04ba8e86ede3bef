"""The collector: receives step reports and agent registrations over HTTP."""
