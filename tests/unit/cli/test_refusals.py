"""What is misspelt in a scenario is refused with the nearest known word, before anything starts."""

from pathlib import Path

import pytest

from concord_cli.assessment_client import wait_for_connections
from concord_cli.errors import AssessmentError, UsageError
from concord_cli.scenario.scenario_file import check_config, check_spelling, read_scenario
from tests.kit.ports import free_port

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


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            "[[config.tasks]]\nid = 'x'\ntext = 'Count.'\ntarget = '5'\nscorer = 'include'",
            "config.tasks[0].scorer: no scorer is called 'include'; did you mean `includes`?",
        ),
        (
            "[config]\ntask = 'Count.'\nmetrics = ['densty']",
            "config.metrics: no metric is called 'densty'; did you mean",
        ),
        ("[config]\ntask = 'Count.'\nevaluators = ['graf']", "config.evaluators: no evaluator is called 'graf'"),
        ("[config]\ntask = 'Count.'\nstart = 'A'", "`start` is not a participant: 'A'"),
        ("[config]\nsuite = 'quik'", "did you mean `quick`?"),
        ("[config]\nsuite = 'quick'\nseats = {b = 3}", "`seats` names no participant: b"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_known_one(config: str, message: str, tmp_path: Path) -> None:
    assert message in refusal(f"{TEAM}{config}", tmp_path)


def test_participants_at_one_address_are_refused(tmp_path: Path) -> None:
    two = "".join(f"[[participants]]\nrole = '{name}'\nendpoint = 'http://127.0.0.1:9101'\n" for name in "ab")
    assert "'a' and 'b' have the same address" in refusal(f"{two}[config]\ntask = 'Count.'", tmp_path)


async def test_a_participant_that_nobody_can_reach_is_refused_before_the_stack_starts() -> None:
    url = f"http://127.0.0.1:{free_port()}/"
    with pytest.raises(AssessmentError, match=f"helper cannot be reached at {url}"):
        await wait_for_connections({"helper": url}, lambda _: None, timeout_s=0)


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
