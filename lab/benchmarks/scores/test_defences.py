"""The judge's defences against injection: no known attack gains a point with all of them on, and each one matters."""

from pathlib import Path
from statistics import fmean

import pytest

from lab.benchmarks.scores.defences import ALL, MODELS, Attack, Defence, Model, attacks, measure, moved, undetected
from tests.kit.injection.texts import HONEST

ATTACKS = list(attacks())
OTHERS = [each for each in Defence if each is not Defence.DETECTION]

NOTHING_OFF = frozenset[Defence]()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("off", [NOTHING_OFF, *(frozenset({each}) for each in OTHERS if each is not Defence.ALIASES)])
def test_no_attack_gains_points_while_attempts_are_detected(model: Model, off: frozenset[Defence]) -> None:
    assert {attack.kind: gained for attack in ATTACKS if (gained := moved(attack, model, off))} == {}


def test_only_aliases_keep_names_and_step_ids_from_addressing_the_judge() -> None:
    gained = {attack.place for attack in ATTACKS for model in MODELS if moved(attack, model, {Defence.ALIASES})}
    assert gained == {"name", "step id"}


@pytest.mark.parametrize("attack", undetected(), ids=lambda attack: attack.kind)
def test_an_undetected_attack_moves_only_a_model_that_obeys_denies_the_code_word_and_quotes_truly(
    attack: Attack,
) -> None:
    assert {model.name: moved(attack, model, NOTHING_OFF) for model in MODELS} == {
        "obeys all it reads": 0.0,
        "denies the code word": 0.0,
        "and quotes truly": 100.0,
        "obeys only outside of data": 0.0,
    }


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.kind)
def test_without_any_defence_every_attack_gains_the_whole_outcome(attack: Attack) -> None:
    assert [moved(attack, model, ALL) for model in MODELS] == [100.0] * len(MODELS)


@pytest.mark.parametrize("defence", OTHERS)
def test_each_further_defence_lowers_what_undetected_attacks_gain_from_some_model(defence: Defence) -> None:
    def gained(*off: Defence) -> list[float]:
        return [fmean(moved(attack, model, off) for attack in ATTACKS) for model in MODELS]

    with_it, without = gained(Defence.DETECTION), gained(Defence.DETECTION, defence)
    assert any(more > less for more, less in zip(without, with_it, strict=True))
    assert all(more >= less for more, less in zip(without, with_it, strict=True))


def test_the_documents_show_the_measured_tables() -> None:
    by_model, by_attack, unseen, given_away = (table.markdown() for table in measure(soak_s=0))
    judging, benchmarks = (Path(f"docs/{name}.md").read_text(encoding="utf-8") for name in ("judging", "benchmarks"))
    assert by_model in benchmarks
    assert by_attack in benchmarks
    assert unseen in benchmarks
    assert given_away in benchmarks
    assert given_away.partition("| Graded by")[2] in judging
    assert by_model.partition("| Switched off")[2] in judging
    assert f"{len(ATTACKS)} attacks by a team" in judging
    assert f"Of the {len(undetected())} attacks that are known to pass" in judging
    assert f"Of the {len(HONEST)} honest texts" in judging
