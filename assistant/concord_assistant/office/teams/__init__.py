"""Teams in the office: several people, each with an assistant of their own, have one thing to do together."""
