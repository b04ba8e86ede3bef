"""The texts and tables about a row, on the terminal and on the page."""
