"""`concord scenario texts`: what criteria make of texts that others bring."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord_cli.main import app

DEVELOPMENT = Path("tests/texts/development.jsonl")
TEST = Path("tests/texts/test.jsonl")
DOCUMENT = Path("docs/criteria.md")
TYRES = {"scenario": "supplier_mail", "criterion": "tyres_ordered"}
TEXTS = [
    {**TYRES, "text": "Please send us 40 tyres.", "label": "right"},
    {**TYRES, "text": "We do not want 40 tyres,\nthanks.", "label": "right"},
    {**TYRES, "text": "Please send us 40 or 50 tyres.", "label": "wrong"},
]
EXPECTED = [
    "3 texts, 2 right and 1 wrong",
    "wrong ones credited: 0 of 1 (0.0 %)",
    "right ones refused: 1 of 2 (50.0 %)",
    "not understood: 1 of 3 (33.3 %): 0 right and 1 wrong",
]


def _run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["scenario", "texts", *arguments])
    return result.exit_code, result.output


def test_the_verdicts_that_differ_and_the_rates_are_printed(tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text("\n".join(json.dumps(each) for each in TEXTS))
    code, output = _run(str(file))
    assert code == 0
    assert "2: right text is wrong: tyre_works understands nothing to order" in output
    assert "3: wrong text is not understood" in output
    assert output.splitlines()[-4:] == EXPECTED


def test_texts_may_come_as_csv(tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    rows = [",".join(f'"{each[name]}"' for name in TEXTS[0]) for each in TEXTS]
    file.write_text("\n".join([",".join(TEXTS[0]), *rows]))
    code, output = _run(str(file))
    assert (code, output.splitlines()[-4:]) == (0, EXPECTED)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "is not JSON"),
        ('{"scenario": "supplier_mail"}', "criterion: Field required"),
        (json.dumps(TEXTS[0] | {"criterion": "other"}), "there is no criterion other"),
        (json.dumps(TEXTS[0] | {"criterion": "rest_untouched"}), "criterion rest_untouched reads no text by rules"),
    ],
)
def test_an_invalid_line_is_named(line: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text(json.dumps(TEXTS[0]) + "\n" + line)
    code, output = _run(str(file))
    assert code == 2
    assert f"{file}:2: {why}" in output.replace("\n", "")


def test_the_rules_read_the_texts_that_they_were_developed_with_as_the_document_says() -> None:
    _, output = _run(str(DEVELOPMENT))
    assert "\n".join(output.splitlines()[-4:]) in DOCUMENT.read_text(encoding="utf-8")
    credited, refused, unclear = (float(line.split("(")[1].split(" ")[0]) for line in output.splitlines()[-3:])
    assert (credited, refused) <= (0.5, 0.5)
    assert unclear <= 10


def test_the_rules_keep_to_the_goal_on_the_last_set_of_texts() -> None:
    _, output = _run(str(TEST))
    credited, refused, unclear = (float(line.split("(")[1].split(" ")[0]) for line in output.splitlines()[-3:])
    assert max(credited, refused) <= 2
    assert unclear <= 15


def test_of_a_ledger_the_verdict_is_what_the_character_does(tmp_path: Path) -> None:
    hotel = {"scenario": "cancelled_trip", "criterion": "hotel_cancelled", "label": "wrong"}
    file = tmp_path / "texts.jsonl"
    texts = ["Please cancel RH-5521 and RH-6034.", "Perhaps: cancel RH-5521.", "Please keep RH-5521."]
    file.write_text("\n".join(json.dumps(hotel | {"text": text}) for text in texts))
    _, output = _run(str(file))
    assert output.splitlines()[0].startswith("2: wrong text is not understood: hotel asks back")
    assert output.splitlines()[-3:-1] == ["wrong ones credited: 0 of 3 (0.0 %)", "right ones refused: 0 of 0"]
