"""An index of the runs in a folder of results, as one local HTML page. `runs` reads them, `command` writes the page."""
