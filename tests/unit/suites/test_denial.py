"""What a text denies is told from what it states."""

import pytest

from concord.suite.denial import is_denied

VALUE = "48213"
DENYING = (
    "not {}", "It is not {}.", "It isn't {}", "It can't be {}", "NOT the {}", 'never "{}"', "It is **not** {}",
    "anything but {}", "Anything but **{}**.", "everything except {}", "all but {}", "Every day but {}",
    "I would not say {}.", "I do not think that the answer is {}", "I don't believe the total would be {}.",
    "the claim that it is {} is false", "The claim that {} is the answer is wrong.", "It is false that it is {}.",
    "It would be wrong to say {}.", "the opposite of {}", "The answer is other than {}.", "I rule out {}.",
    "We have ruled out {}", "I reject {}", "I deny that it is {}", "I doubt it is {}.", "I doubt that the sum is {}",
    "{} is wrong.", "{} is not the answer.", "{} isn't right", "{}? No.", "{} is clearly false", "{} (wrong)",
    "{} cannot be the answer.", "{} does not fit", "{} can't be right.", "neither {}", "It is no longer {}",
    "{}, which is wrong", '{{"not": {}}}', "Wrong: {}", "instead of {}", "rather than {}",
    "It is not true that it is {}.",
    "It is not equal to {}", "I am not saying {}.", "Under no circumstances {}", "It was never the total {}",
    "anything other than {}", "I can't accept {}", "We excluded {}.", "{} was ruled out.", "{} is out of the question",
    "It's not the case that the answer is {}",
)  # fmt: skip
STATING = (
    "{}", "It is {}.", "I am not sure, but {}.", "It is {}, not counting mine.", "No. {}", "probably {}",
    "no doubt it is {}", "There is no doubt that it is {}", "without a doubt {}", "nothing but {}",
    "It is none other than {}", "not only is it {}", "I am not entirely sure that it is {}", "undoubtedly {}",
    "agent/2 did not reply, so {}.", "I have not heard from agent/3, yet the answer is {}.", "{} is not in doubt.",
    "{} is certainly right.", "Although agent/2 was wrong, it is {}.", "agent/2 is wrong and the total is {}.",
    "Not 70561 but {}", "It is {}, not 70561.", "It is {} rather than 70561.", "It is not 70561, it is {}.",
    "It is {} and agent/2 is wrong.", "I could not check. {}", "I have no other answer: {}", "It must be {}.",
    "Nobody objected: {}", "Since nobody denied it, {}", "{} (not verified)", "{} is not wrong.",
    "There is nothing wrong with {}", "It cannot be anything but {}.",
    "I think it is {} but agent/2 thinks that is false", "Excluding the late ones, the total is {}.",
)  # fmt: skip


def _denied(text: str) -> bool:
    start = text.index(VALUE)
    return is_denied(text, start, start + len(VALUE))


@pytest.mark.parametrize("form", DENYING)
def test_a_denied_value_is_known(form: str) -> None:
    assert _denied(form.format(VALUE))


@pytest.mark.parametrize("form", STATING)
def test_a_stated_value_is_not_taken_for_a_denied_one(form: str) -> None:
    assert not _denied(form.format(VALUE))


def test_of_two_values_the_other_one_is_denied() -> None:
    for text in (
        "It is 70561, not 48213.",
        "Not 48213 but 70561",
        "70561 rather than 48213",
        "48213 is wrong, 70561 is right",
    ):
        assert _denied(text)
