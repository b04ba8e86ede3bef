"""The documentation: it names every setting, and its links and paths exist."""

import re
from pathlib import Path

import pytest

from concord.assessment import AssessmentConfig
from concord.service.settings import ServiceSettings
from concord_cli.tasks.command import mean_chance
from concord_collector.settings import CollectorSettings
from concord_evaluator.settings import EvaluatorSettings
from concord_gateway.settings import GatewaySettings
from concord_purple.settings import PurpleSettings
from concord_suites import FAMILIES

DOCUMENTS = [Path("README.md"), Path("CONTRIBUTING.md"), *sorted(Path("docs").glob("*.md"))]


def test_every_key_of_the_config_is_documented() -> None:
    documented = set(re.findall(r"`(\w+)`", Path("docs/assessments.md").read_text(encoding="utf-8")))
    assert AssessmentConfig.model_fields.keys() <= documented


@pytest.mark.parametrize("settings", [CollectorSettings, EvaluatorSettings, GatewaySettings])
def test_every_setting_of_the_services_is_documented(settings: type[ServiceSettings]) -> None:
    documented = set(re.findall(r"`([A-Z_]+)`", Path("docs/running.md").read_text(encoding="utf-8")))
    names = {str(field.validation_alias or f"CONCORD_{name.upper()}") for name, field in settings.model_fields.items()}
    assert names <= documented


def test_every_setting_of_the_participants_is_documented() -> None:
    documented = set(re.findall(r"`([A-Z_]+)`", Path("docs/running.md").read_text(encoding="utf-8")))
    assert {f"PURPLE_{name.upper()}" for name in PurpleSettings.model_fields} <= documented


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_every_link_to_a_file_resolves(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


def anchors(document: Path) -> set[str]:
    """The anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=str)
def test_every_link_to_a_section_resolves(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]*)#([^)]+)\)", document.read_text(encoding="utf-8"))
    assert [
        (path, name) for path, name in links if name not in anchors(document.parent / path if path else document)
    ] == []


def test_every_path_in_the_architecture_exists() -> None:
    text = Path("docs/architecture.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:attacks|cli|data|services|shared|tests)/[\w./-]*)`", text)
    assert len(paths) > 40
    assert [path for path in paths if not Path(path).exists()] == []


def test_every_glossary_term_is_unique() -> None:
    text = Path("docs/glossary.md").read_text(encoding="utf-8")
    terms = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")]
    assert sorted(set(terms) - {"Term"}) == sorted(term for term in terms if term != "Term")


def test_the_families_of_tasks_are_listed_with_their_chance() -> None:
    table = re.findall(
        r"^\| ([a-z-]+) \| [a-z-]+ \| \d+ to \d+ \| (\d\.\d\d) \|",
        Path("docs/tasks.md").read_text("utf-8"),
        re.MULTILINE,
    )
    assert dict(table) == {family.name: f"{mean_chance(family):.2f}" for family in FAMILIES}
