"""The causes of what a trial of a family's task lost: where facts were lost, and answers that are not proven."""

from collections import Counter

from concord.assessment.team_results import PartFailure, TeamTaskRecord
from concord.assessment.verdict import WITHOUT_FACTS, CauseKind, Evidence
from concord_evaluator.verdict.found import Found


def causes_of_team_task(record: TeamTaskRecord, lost: float) -> list[Found]:
    """The causes in one trial that is short of `lost` points. Empty for controls."""
    if record.control is not None:
        return []
    parts = {failure.part for failure in record.failures} | {each.part for each in record.unproven}
    causes = Counter(failure.part for failure in record.failures)
    # Rows before 0.5.0 do not say what a part cost: there, each part counts the same.
    share = lost / len(parts) if parts else 0.0
    return [
        *(_of_failure(each, share / causes[each.part]) for each in record.failures),
        *(
            Found(
                kind=CauseKind.UNPROVEN,
                agents=(each.seat,),
                certainty="proven",
                points=share if each.lost is None else 100 * each.lost,
                evidence=tuple(Evidence(text=fact) for fact in each.facts),
            )
            for each in record.unproven
        ),
    ]


def _of_failure(failure: PartFailure, share: float) -> Found:
    kind = CauseKind(failure.cause)
    facts = () if kind in WITHOUT_FACTS else failure.facts
    return Found(
        kind=kind,
        agents=tuple(failure.seats),
        certainty="proven",
        points=share if failure.lost is None else 100 * failure.lost,
        steps=() if failure.step_id is None else (failure.step_id,),
        evidence=tuple(Evidence(text=fact) for fact in facts),
    )
