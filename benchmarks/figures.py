"""Figures: a table that can be printed and written into a document."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table


@dataclass(frozen=True, slots=True)
class Figures:
    """A table with a title and a line on how it was measured; all columns but the first are numbers."""

    title: str
    how: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def rich(self) -> Table:
        """The table for a terminal."""
        table = Table(title=self.title, caption=self.how, title_justify="left", caption_justify="left")
        for number, column in enumerate(self.columns):
            table.add_column(column, justify="right" if number else "left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """The table for a document."""
        lines = [self.columns, ["---", *["---:"] * (len(self.columns) - 1)], *self.rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"### {self.title}\n\n{self.how}\n\n{table}\n"


def write_section(document: Path, name: str, tables: Sequence[Figures]) -> None:
    """Puts tables between a section's markers, which are added at the end where they are missing."""
    start, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    text = document.read_text(encoding="utf-8") if document.exists() else "# Benchmarks\n"
    if start not in text:
        text += f"\n## {name.capitalize()}\n\n{start}{end}"
    before, _, rest = text.partition(start)
    _, _, after = rest.partition(end)
    written = "\n".join(table.markdown() for table in tables)
    document.write_text(f"{before}{start}\n{written}\n{end}{after}", encoding="utf-8")


def count(value: float) -> str:
    """A number with three significant digits: `201 k`, `3.1 M`, `0.42`."""
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"
