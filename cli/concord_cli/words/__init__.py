"""What a result row says, in words: shared by the terminal summary and the page, which make them fit to be shown."""
