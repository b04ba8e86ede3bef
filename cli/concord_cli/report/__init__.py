"""Reports: a result row as one self-contained HTML page. `page` holds its content, `renderer` makes the HTML."""
