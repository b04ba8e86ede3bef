"""Result tables and charts, to print or to write into a document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A table with a title and a caption on the measurement; all columns but the first are numbers.

    `measured`: where and when, as a sentence (`provenance.Beginning`); empty for what no machine changes.
    """

    title: str
    how: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    measured: str = ""

    def rich(self) -> Table:
        """The table for a terminal."""
        caption = f"{self.how} {self.measured}".strip()
        table = Table(title=self.title, caption=caption, title_justify="left", caption_justify="left")
        for number, column in enumerate(self.columns):
            table.add_column(column, justify="right" if number else "left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def markdown(self) -> str:
        """The table for a document."""
        lines = [self.columns, ["---", *["---:"] * (len(self.columns) - 1)], *self.rows]
        table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        below = f"\n{self.measured}\n" if self.measured else ""
        return f"### {self.title}\n\n{self.how}\n\n{table}\n{below}"


@dataclass(frozen=True, slots=True)
class Chart:
    """A line chart over named points, with a title and labels of its axes."""

    title: str
    across: str
    up: str
    points: Mapping[str, float]

    def rich(self) -> Table:
        """The points as a table, for a terminal."""
        rows = [(name, count(value)) for name, value in self.points.items()]
        return ResultTable(self.title, "", (self.across, self.up), rows).rich()

    def markdown(self) -> str:
        """The chart for a document, as a mermaid diagram."""
        names = ", ".join(f'"{name}"' for name in self.points)
        values = ", ".join(f"{value:.3g}" for value in self.points.values())
        lines = [
            f'title "{self.title}"',
            f'x-axis "{self.across}" [{names}]',
            f'y-axis "{self.up}" 0 --> {self._top():g}',
        ]
        chart = "\n".join(f"    {line}" for line in (*lines, f"line [{values}]"))
        return f"```mermaid\nxychart-beta\n{chart}\n```\n"

    def _top(self) -> float:
        return float(f"{1.25 * max(self.points.values()):.2g}")


def write_section(document: Path, name: str, tables: Sequence[ResultTable | Chart]) -> None:
    """Writes tables between a section's markers; appends the section if the document has no such markers."""
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
