"""Unknown keys of a scenario are refused with the nearest known one, before anything starts."""

from pathlib import Path

import pytest

from concord_cli.errors import UsageError
from concord_cli.scenario.scenario_file import check_config, check_spelling, read_scenario

TEAM = "[[participants]]\nname = 'a'\nfunction = 'reviewer'\n"


def refusal(text: str, folder: Path) -> str:
    path = folder / "team.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as refused:
        check_config(path, read_scenario(path))
    return str(refused.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[confg]\nsuite = 'quick'", "confg: unknown key; did you mean `config`?"),
        (f"{TEAM}[team]\nwirings = 'mesh'", "team.wirings: unknown key; did you mean `wiring`?"),
        (f"{TEAM}[config]\nsute = 'quick'", "config.sute: unknown key; did you mean `suite`?"),
        (
            f"{TEAM}[config.thresholds]\nbottlenek = 0.4",
            "thresholds.bottlenek: unknown key; did you mean `bottleneck`?",
        ),
        (
            f"{TEAM}[[config.tasks]]\nid = 'x'\ntxt = 'Count.'",
            "config.tasks[0].txt: unknown key; did you mean `text`?",
        ),
        (f"{TEAM}[config.thresholds]\npasss = 0.4", "config.thresholds.passs: unknown key; did you mean `pass`?"),
        (f"{TEAM}[config]\nzzz = 1", "config.zzz: unknown key"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_known_one(text: str, message: str, tmp_path: Path) -> None:
    assert message in refusal(text, tmp_path)


def test_a_key_unlike_any_other_is_refused_with_the_few_known_ones(tmp_path: Path) -> None:
    assert "team.zzz: unknown key; known: isolation, model_endpoints, wiring" in refusal(
        f"{TEAM}[team]\nzzz = 1", tmp_path
    )


def test_another_green_agent_may_have_keys_of_its_own_but_no_misspelt_ones(tmp_path: Path) -> None:
    path = tmp_path / "team.toml"
    path.write_text("[config]\nboard_size = 9")
    check_spelling(path, read_scenario(path))

    path.write_text("[config]\nnum_run = 9")
    with pytest.raises(UsageError, match=r"config\.num_run: unknown key; did you mean `num_runs`\?"):
        check_spelling(path, read_scenario(path))
