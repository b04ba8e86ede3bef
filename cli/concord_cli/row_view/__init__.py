"""What a row says, as texts and numbers: made once, and shown by the terminal and by the page. Pure."""
