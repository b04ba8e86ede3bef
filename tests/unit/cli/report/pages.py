"""Parses pages into their elements and links."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

Attributes = list[tuple[str, str | None]]

_VOID = frozenset({"meta", "link", "img", "br", "input", "base"})


@dataclass(slots=True)
class Element:
    """An element with the text directly in it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""

    @property
    def classes(self) -> list[str]:
        return self.attributes.get("class", "").split()


@dataclass(slots=True)
class ParsedPage:
    """The elements of a page in order; `unclosed`: tags that were not closed in the order they were opened."""

    elements: list[Element] = field(default_factory=list)
    unclosed: list[str] = field(default_factory=list)

    def all(self, tag: str, of_class: str | None = None) -> list[Element]:
        return [each for each in self.elements if each.tag == tag and (of_class is None or of_class in each.classes)]

    def values(self, attribute: str) -> list[str]:
        return [each.attributes[attribute] for each in self.elements if attribute in each.attributes]

    @property
    def text(self) -> str:
        """The page's text, without style and script."""
        return " ".join(each.text for each in self.elements if each.tag not in {"style", "script"})


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parsed = ParsedPage()
        self._open: list[Element] = []

    def handle_starttag(self, tag: str, attrs: Attributes) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.parsed.elements.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: Attributes) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop().tag != tag:
            self.parsed.unclosed.append(tag)

    def handle_data(self, data: str) -> None:
        if self._open:
            self._open[-1].text += data


def parse_page(page: str) -> ParsedPage:
    parser = _Parser()
    parser.feed(page)
    parser.close()
    return parser.parsed
