"""Evaluations that worker or judge lost: each is made once more from the stored trace, when all trials are over."""

import asyncio
from dataclasses import dataclass, field

from concord.assessment.jobs import EvaluateTrial, VerdictHead
from concord_gateway.evaluation import EvaluationFailedError, Evaluations


@dataclass(slots=True)
class LostEvaluations:
    """The evaluations that worker or judge lost, by trial id. One that failed otherwise would fail again."""

    by_worker: dict[str, EvaluateTrial] = field(default_factory=dict)
    by_judge: dict[str, EvaluateTrial] = field(default_factory=dict)

    def note(self, request: EvaluateTrial, verdict: VerdictHead | None) -> None:
        """Notes the end of an evaluation; `verdict`: None if there is none."""
        again = request.model_copy(update={"again": True})
        if verdict is None or (verdict.is_lost and not verdict.lost_by_judge):
            self.by_worker[request.trial_id] = again
        elif verdict.is_lost:
            self.by_judge[request.trial_id] = again

    def forget(self, trial_id: str) -> None:
        """Forgets a trial, which is played again."""
        self.by_worker.pop(trial_id, None)
        self.by_judge.pop(trial_id, None)

    async def make_again(self, evaluations: Evaluations, slots: asyncio.Semaphore) -> None:
        """Has all of them made again. If the judge is still away, it is asked about one trial only.

        `slots`: for trials that await their evaluation.
        """

        async def judged(request: EvaluateTrial) -> bool:
            async with slots:
                try:
                    verdict = await evaluations.of_trial(request)
                except EvaluationFailedError:
                    return False
            return not verdict.lost_by_judge

        await asyncio.gather(*map(judged, self.by_worker.values()))
        unjudged = list(self.by_judge.values())
        if unjudged and await judged(unjudged[0]):
            await asyncio.gather(*map(judged, unjudged[1:]))
