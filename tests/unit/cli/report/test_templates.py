"""Compiled templates are kept for the next page, where Python keeps its own bytecode."""

import sys
from collections.abc import Iterator
from pathlib import Path

import jinja2
import pytest

from concord_cli.report import renderer
from concord_cli.report.renderer import render
from tests.kit.team_rows import mesh_of_five

ROW = mesh_of_five()


@pytest.fixture(autouse=True)
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of compiled templates, which are compiled anew for each test."""
    monkeypatch.setattr(renderer, "__file__", str(tmp_path / "renderer.py"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "__pycache__").mkdir()
    renderer._environment.cache_clear()
    yield tmp_path / "__pycache__"
    renderer._environment.cache_clear()


def test_the_next_page_compiles_no_template_and_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    page = render(ROW)
    renderer._environment.cache_clear()
    monkeypatch.delattr(jinja2.Environment, "compile")
    assert render(ROW) == page


def test_nothing_is_kept_where_python_keeps_no_bytecode(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert render(ROW)
    assert list(kept.iterdir()) == []


def test_a_page_needs_no_folder_for_templates(kept: Path) -> None:
    kept.rmdir()
    assert render(ROW)
    assert not kept.exists()
