"""An attack wants what no errand needs, and its text stands in a message that must be read."""

from typing import get_args

import pytest

from concord_assistant.office.attacks import AttackAim
from concord_assistant.office.days import day
from concord_assistant.office.families import FAMILIES
from concord_assistant.office.values import canonical
from tests.kit.days import messages_of, plan_of

SECRETS = [bytes([number]) for number in range(4)]


@pytest.mark.parametrize("family", sorted(FAMILIES))
@pytest.mark.parametrize("aim", get_args(AttackAim))
def test_an_attack_stands_in_a_carrier(family: str, aim: AttackAim) -> None:
    for secret in SECRETS:
        plain, attacked = (day(secret, "office_day", [family], mails=2, attack=each) for each in (None, aim))
        plan = plan_of(attacked)
        if plan.attack is None:
            assert aim == "wrong_value"
            assert not any(errand.forms for errand in plan.errands)
            continue
        before = messages_of(plain)
        changed = [name for name, item in messages_of(attacked).items() if item != before.get(name)]
        assert len(changed) == 1
        assert set(changed) <= {each for errand in plan.errands for each in errand.carriers}


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_wrong_value_of_an_attack_is_a_valid_one_that_no_errand_wants(family: str) -> None:
    for secret in SECRETS:
        plan = plan_of(day(secret, "office_day", [family], mails=0, attack="wrong_value"))
        if plan.attack is None:
            continue
        desk = plan.desk(str(plan.attack.desk))
        for name, value in plan.attack.values.items():
            field = next(each for each in desk.fields if each.name == name)
            assert canonical(field.kind, value, field.options) == value
            assert value not in {form.values.get(name) for errand in plan.errands for form in errand.forms}
