"""Families whose statements mislead: keys and grades against enumeration, and partial results."""

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Sequence

import pytest
from pydantic import JsonValue

from concord.suite import Fact, SuiteTask
from concord_suites import FAMILIES
from concord_suites.answer_kinds import ChoiceFamily
from concord_suites.family import setting_of
from concord_suites.judge.diagnosis import Diagnosis
from concord_suites.judge.hidden_profile import HiddenProfile
from concord_suites.judge.reliability import Reliability
from concord_suites.judge.stale_fact import StaleFact
from concord_suites.judge.suspect_statement import SuspectStatement
from tests.kit.suite_tasks import from_answerer, make, outcome, small_tasks

NAME, CODE, NUMBER = r"\b[A-Z][a-z]+\b", r"\b[A-Z]{2}-\d{5}\b", r"(?<![\d-])\d{5,6}\b"


def brief_sentences(task: SuiteTask) -> list[str]:
    """The sentences of all briefs, without thousands separators."""
    text = " ".join(re.sub(r"(?<=\d),(?=\d{3})", "", brief) for brief in task.briefs.values())
    return re.split(r"(?<=\.) ", text)


def found_in(pattern: str, sentence: str) -> str:
    """The only match of a pattern in a sentence."""
    [found] = re.findall(pattern, sentence)
    return str(found)


def most_frequent(values: Iterable[str]) -> str:
    """The value that is more frequent than each other."""
    [(value, many), (_, fewer), *_] = Counter(values).most_common()
    assert many > fewer
    return value


def own(task: SuiteTask, seat: str) -> list[Fact]:
    """The facts that a seat holds."""
    return [fact for fact in task.facts if seat in fact.holders]


@pytest.mark.parametrize(
    "family", [each for each in FAMILIES if isinstance(each, ChoiceFamily)], ids=lambda each: each.name
)
def test_only_one_of_the_options_is_right(family: ChoiceFamily) -> None:
    for task in small_tasks(family):
        options = family.options(setting_of(family, task))
        assert sum(outcome(family, task, from_answerer(task, option)) for option in options) == 1
        everything = family.grade(from_answerer(task, ", ".join(options)), task.key)
        assert everything.outcome == 0
        assert everything.unreadable == task.answerers


def test_the_candidate_with_the_most_letters_is_the_best() -> None:
    family = HiddenProfile()
    for task in small_tasks(family):
        best = most_frequent(fact.value.text for fact in task.facts)
        assert outcome(family, task, from_answerer(task, f"It is {best}.")) == 1


def test_the_letters_of_each_seat_alone_favour_the_same_wrong_candidate() -> None:
    family = HiddenProfile()
    for task in [*small_tasks(family), make(family, 100, 2)]:
        [favourite] = {most_frequent(fact.value.text for fact in own(task, seat)) for seat in task.seats}
        assert outcome(family, task, from_answerer(task, favourite)) == 0


def test_an_answerer_has_equally_many_letters_for_all_but_the_favourite() -> None:
    for task in small_tasks(HiddenProfile()):
        [answerer] = task.answerers
        [_, *others] = Counter(fact.value.text for fact in own(task, answerer)).most_common()
        assert len({many for _, many in others}) == 1
        assert task.chance == 1 / len(others)


def test_the_report_with_the_highest_rating_is_right() -> None:
    family = Reliability()
    for task in small_tasks(family):
        values = {fact.id: int(fact.value.text) for fact in task.facts}
        sources = sorted({fact.id.split()[1] for fact in task.facts})
        right = [outcome(family, task, from_answerer(task, values[f"report {one}"])) == 1 for one in sources]
        best = [all(values[f"rating {one}"] >= values[f"rating {other}"] for other in sources) for one in sources]
        assert right == best


def test_two_depths_are_no_answer() -> None:
    family = Reliability()
    for task in small_tasks(family):
        [right] = family.solve(setting_of(family, task)).values()
        assert family.grade(from_answerer(task, f"{right} or 12345"), task.key).unreadable == task.answerers


def test_no_seat_holds_both_a_report_and_its_rating() -> None:
    for task in small_tasks(Reliability()):
        holder = {fact.id: fact.holders for fact in task.facts}
        assert all(holder[f"report {at}"] != holder[f"rating {at}"] for at in range(1, len(holder) // 2 + 1))


def test_the_highest_rating_of_all_belongs_to_a_surveyor_without_a_report() -> None:
    for task in small_tasks(Reliability()):
        ratings = [
            (int(found_in(NUMBER, sentence)), found_in(rf"{NAME}(?<!^For)(?<!^The)", sentence))
            for sentence in brief_sentences(task)
            if "precision" in sentence
        ]
        needed = max(int(fact.value.text) for fact in task.facts if fact.id.startswith("rating"))
        assert max(ratings)[0] > needed


def as_date(sentence: str) -> datetime.date:
    """The day that a sentence states, in one of three spellings."""
    for pattern, form in (
        (r"\d{4}-\d\d-\d\d", "%Y-%m-%d"),
        (r"\d{1,2} [A-Z][a-z]+ \d{4}", "%d %B %Y"),
        (r"[A-Z][a-z]+ \d{1,2}, \d{4}", "%B %d, %Y"),
    ):
        for found in re.findall(pattern, sentence):
            return datetime.datetime.strptime(found, form).replace(tzinfo=datetime.UTC).date()
    raise AssertionError(sentence)


def latest_worths(task: SuiteTask) -> dict[str, int]:
    """The worth in the sentence of the latest date, by painting."""
    dates = {
        found_in(CODE, sentence): as_date(sentence)
        for sentence in brief_sentences(task)
        if "ertificate" in sentence and not re.search("crowns", sentence)
    }
    latest: dict[str, tuple[datetime.date, int]] = {}
    paintings = [part.id for part in task.parts]
    for sentence in brief_sentences(task):
        if "crowns" in sentence and not re.search("offer|copy|guessed", sentence):
            day = dates[found_in(CODE, sentence)] if "ertificate" in sentence else as_date(sentence)
            painting = found_in("|".join(paintings), sentence)
            valuation = (day, int(found_in(rf"{NUMBER}(?= crowns)", sentence)))
            latest[painting] = max(latest.get(painting, valuation), valuation)
    return {painting: worth for painting, (_, worth) in latest.items()}


def test_the_latest_valuations_are_right() -> None:
    family = StaleFact()
    for task in small_tasks(family):
        worths = latest_worths(task)
        assert {fact.id: int(fact.value.text) for fact in task.facts} == worths
        assert outcome(family, task, from_answerer(task, dict(worths))) == 1


def test_each_painting_counts_for_itself() -> None:
    family = StaleFact()
    for task in small_tasks(family):
        given: dict[str, JsonValue] = {}
        for many, (painting, worth) in enumerate(latest_worths(task).items(), start=1):
            given[painting.upper()] = f"{worth:,}"
            wrong: dict[str, JsonValue] = {part.id: worth + 1 for part in task.parts if part.id.upper() not in given}
            assert outcome(family, task, from_answerer(task, {**wrong, **given})) == pytest.approx(
                many / len(task.parts)
            )


def test_an_outdated_valuation_is_what_most_seats_hold() -> None:
    for task in [make(StaleFact(), 5, attempt) for attempt in range(20)]:
        for fact in task.facts:
            holding = Counter(
                number
                for brief in task.briefs.values()
                for number in set(re.findall(NUMBER, re.sub(r"(?<=\d),(?=\d{3})", "", brief)))
                if re.search(rf"{fact.id}[^.]*{number}|{number}[^.]*{fact.id}", brief.replace(",", ""))
            )
            assert max(holding.values()) == 4
            assert holding[fact.value.text] == 1


def test_several_worths_of_one_painting_are_no_answer() -> None:
    family = StaleFact()
    for task in small_tasks(family):
        several: dict[str, JsonValue] = {
            painting: f"{worth} or {worth + 1}" for painting, worth in latest_worths(task).items()
        }
        assert outcome(family, task, from_answerer(task, several)) == 0


def false_witnesses(task: SuiteTask) -> list[str]:
    """The witnesses whose statement about a convoy is not true of its loads."""
    sentences = brief_sentences(task)
    ships = {
        found_in(CODE, each): found_in(rf"onvoy ({NAME})", each)
        for each in sentences
        if re.search(CODE, each) and "onvoy" in each
    }
    loads = Counter[str]()
    for each in sentences:
        if re.search("unload|to your quay|You counted", each) and re.search(NUMBER, each):
            convoy = ships[found_in(CODE, each)] if re.search(CODE, each) else found_in(rf"onvoy ({NAME})", each)
            loads[convoy] += int(found_in(NUMBER, each))
    false = []
    for each in sentences:
        if re.search("states|According to|statement of", each):
            convoy = found_in(rf"onvoy ({NAME})", each)
            [witness] = set(re.findall(NAME, each)) - {convoy, "According", "The", "Convoy"}
            claimed = int(found_in(NUMBER, each))
            if not (loads[convoy] > claimed if " more than " in each else loads[convoy] < claimed):
                false.append(witness)
    return false


def test_exactly_one_statement_is_not_true() -> None:
    family = SuspectStatement()
    for task in small_tasks(family):
        [witness] = false_witnesses(task)
        assert outcome(family, task, from_answerer(task, witness)) == 1


def test_all_but_one_of_the_loads_do_not_decide_about_the_statement() -> None:
    for task in small_tasks(SuspectStatement()):
        *loads, claim = (int(fact.value.text) for fact in task.facts)
        for missing in loads:
            others = sum(loads) - missing
            assert others + 10_000 < claim < others + 99_999


def test_the_loads_and_the_statement_are_with_several_seats() -> None:
    for task in small_tasks(SuspectStatement()):
        *loads, claim = (fact.holders[0] for fact in task.facts)
        assert len(set(loads)) == len(loads)
        assert claim not in task.answerers
        assert len(task.seats) == len(loads) or claim not in loads


def explaining(task: SuiteTask, order: Sequence[str]) -> list[str]:
    """The faults that bring these signs in this order, with or without others between them."""
    rows = [sentence for sentence in brief_sentences(task) if len(re.findall(CODE, sentence)) == 5]
    return [
        found_in(rf"(?!The\b){NAME}", re.sub(CODE, "", row))
        for row in rows
        if [sign for sign in re.findall(CODE, row) if sign in order] == list(order)
    ]


def shown_signs(task: SuiteTask) -> list[str]:
    """The signs in the order of their entries."""
    signs = {int(fact.anchor.text): fact.value.text for fact in task.facts if fact.anchor}
    return [signs[entry] for entry in sorted(signs)]


def test_exactly_one_fault_explains_all_signs_in_their_order() -> None:
    family = Diagnosis()
    for task in small_tasks(family):
        [fault] = explaining(task, shown_signs(task))
        assert outcome(family, task, from_answerer(task, f"The pump has the fault {fault.lower()}.")) == 1


def test_without_any_one_sign_another_fault_fits_too() -> None:
    for task in small_tasks(Diagnosis()):
        shown = shown_signs(task)
        for missing in shown:
            assert len(explaining(task, [sign for sign in shown if sign != missing])) > 1


def test_in_another_order_of_two_signs_another_fault_fits() -> None:
    for task in small_tasks(Diagnosis()):
        shown = shown_signs(task)
        for at in range(len(shown) - 1):
            exchanged = [*shown[:at], shown[at + 1], shown[at], *shown[at + 2 :]]
            assert len(explaining(task, exchanged)) == 1


@pytest.mark.parametrize(
    "family", [each for each in FAMILIES if isinstance(each, ChoiceFamily)], ids=lambda each: each.name
)
def test_the_right_name_stands_for_all_facts_once_all_are_known(family: ChoiceFamily) -> None:
    for task in small_tasks(family):
        [right] = family.solve(setting_of(family, task)).values()
        found = {value.text: ids for value, ids in family.partial_results(task, task.facts).items()}
        assert found[str(right)] == {fact.id for fact in task.facts}
        assert str(right) not in {value.text for value in family.partial_results(task, task.facts[1:])}


def test_the_best_report_so_far_stands_for_all_sources_that_are_fully_known() -> None:
    family = Reliability()
    for task in small_tasks(family):
        values = {fact.id: fact.value for fact in task.facts}
        ids = {"report 1", "rating 1", "report 2", "rating 2", "report 3"}
        known = [fact for fact in task.facts if fact.id in ids]
        first, second = (int(values[f"rating {at}"].text) for at in (1, 2))
        best = values["report 1" if first > second else "report 2"]
        assert family.partial_results(task, known) == {best: ids - {"report 3"}}


def test_the_sum_of_known_loads_stands_for_them() -> None:
    family = SuspectStatement()
    for task in small_tasks(family):
        first, second = task.facts[:2]
        [(value, ids)] = family.partial_results(task, [first, second]).items()
        assert int(value.text) == int(first.value.text) + int(second.value.text)
        assert ids == {first.id, second.id}
