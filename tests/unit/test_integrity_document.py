"""`docs/integrity.md` answers every class and every item, and what it names exists."""

import re
from pathlib import Path

import pytest

from concord_cli.audit import flaws
from concord_cli.audit.checklist import ITEMS
from concord_cli.audit.flaws import FLAWS, Attack

TEXT = Path("docs/integrity.md").read_text(encoding="utf-8")
ATTACKS = [each for each in vars(flaws).values() if isinstance(each, Attack)]


def rows(section: str) -> list[list[str]]:
    """The cells of the table of a section, without its head."""
    after = TEXT.partition(f"## {section}\n")[2].partition("\n## ")[0]
    lines = [line for line in after.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def test_every_class_of_flaws_is_answered() -> None:
    answered = [cells[0] for cells in rows("The eight classes of flaws")]
    assert answered == [f"{flaw.value}: {words}" for flaw, words in FLAWS.items()]


def test_every_item_of_the_checklist_is_answered_with_what_shows_it() -> None:
    table = rows("The Agentic Benchmark Checklist")
    assert [cells[0] for cells in table] == [f"{item} {words}" for item, words in ITEMS.items()]
    assert all(len(cells) == 3 and all(cells) for cells in table)


def test_every_attack_is_listed_with_its_class() -> None:
    listed = re.findall(r"^\| ([a-z][^|]+) \| (V\d) \|", TEXT, re.MULTILINE)
    assert sorted(listed) == sorted((each.name, each.flaw.value) for each in ATTACKS)


@pytest.mark.parametrize("named", sorted(set(re.findall(r"`(tests/[^`]+)`", TEXT))))
def test_every_test_exists(named: str) -> None:
    path, _, name = named.partition("::")
    assert Path(path).exists()
    assert not name or re.search(rf"\bdef {name}\(", Path(path).read_text(encoding="utf-8"))


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`make ([\w-]+)`", TEXT))))
def test_every_target_exists(target: str) -> None:
    assert re.search(rf"^(?:[\w-]+ )*{target}(?: [\w-]+)*:", Path("Makefile").read_text(encoding="utf-8"), re.MULTILINE)
