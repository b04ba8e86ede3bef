"""The judge's defences against injection: no known attack gains a point with all of them on, and each one matters."""

from statistics import fmean

import pytest

from lab.benchmarks.scores.defences import ALL, MODELS, Attack, Defence, Model, attacks, moved, undetected

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
