"""The collector: takes traces and registrations in, checks them, and puts them into Redis."""
