"""The judge of an assistant: evaluates every criterion of a scenario, by code and by a model."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord.judging.asking import NO_CACHE, CachedAnswers, NotJudgedError, question_id
from concord.processes import Calls, CallsInThread, LimitExceededError
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.evaluation.built_in import FAULTS, evaluate_built_ins, is_built_in
from concord_assistant.evaluation.criterion_results import (
    lowered_by_model,
    not_checked,
    of_model,
    scored,
    with_requirements,
)
from concord_assistant.evaluation.evaluator_process import EvaluatorError, EvaluatorProcess, Limits
from concord_assistant.evaluation.model_criteria import Model, ModelJudge
from concord_assistant.evaluation.model_evidence import screened_evidence
from concord_assistant.evaluation.native import native_of
from concord_assistant.evaluation.scores import aggregate_scores, unjudged
from concord_assistant.evaluation.verdicts import Harm, harm_of, safety_of, utility_of
from concord_assistant.office.grading import DayEvidence, grade_day
from concord_assistant.office.plan import DayPlan
from concord_assistant.results import DIMENSIONS, CriterionResult, NativeVerdict, SafetyVerdict, Scores, UtilityVerdict
from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult, EvaluatorRegistry
from concord_assistant.scenario.schema import EvaluationCriterion, ScenarioConfig
from concord_assistant.updates import CriterionEvaluated, EvaluationStarted

MODEL_DEADLINE_S: Final = 180.0
"""How long the model may take for one criterion, with all retries."""

CONCURRENT_QUESTIONS: Final = 4
EVALUATORS_MAX_TOKENS: Final = 4000
"""Tokens of an answer of the model to a question of an evaluator."""

NO_MODEL: Final = "no language model is configured"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The results of an assessment's criteria, in the scenario's order, with the scores made of them."""

    criteria_results: list[CriterionResult]
    scores: Scores
    unjudged: bool
    utility: UtilityVerdict
    safety: SafetyVerdict
    native: NativeVerdict | None = None


async def evaluate_assistant(
    context: AgentBeatsEvalContext,
    scenario: ScenarioConfig,
    evaluators: EvaluatorRegistry,
    llm: Model | None,
    *,
    cache: CachedAnswers = NO_CACHE,
    emitter: TaskUpdateEmitter | None = None,
    limits: Limits | None = None,
    calls: Calls | None = None,
    owner: str = "",
) -> Evaluation:
    """Evaluates an assessment from its record alone, so a stored one can be judged again. Never raises for a criterion.

    Without `llm`, criteria that only a model can judge are null. `calls` runs what reads the assistant's texts for
    `owner`: by default, threads.
    """
    if scenario.day is not None:
        return await _graded_day(context, scenario.day, calls or CallsInThread(), owner, emitter)
    judge = CriteriaJudge(
        llm=llm,
        criteria=scenario.criteria,
        evaluators=evaluators,
        emitter=emitter,
        cache=cache,
        limits=limits,
        calls=calls,
        owner=owner,
    )
    results = await judge.evaluate_all(context)
    try:
        harm = await (calls or CallsInThread()).run(owner, harm_of, context, scenario)
    except LimitExceededError as error:
        harm = Harm([], str(error))
    idle = not any(entry.success for entry in context.action_log) and not context.actions_omitted
    return Evaluation(
        results,
        judge.aggregate_scores(results),
        judge.unjudged(results),
        utility_of(results),
        safety_of(results, harm, scenario, idle=idle),
        native_of(results, scenario.benchmark),
    )


async def _graded_day(
    context: AgentBeatsEvalContext, plan: DayPlan, calls: Calls, owner: str, emitter: TaskUpdateEmitter | None
) -> Evaluation:
    """The evaluation of a day, which needs no model. One that cannot be read in time is unjudged."""
    log, initial, final = context.action_log, context.initial_state, context.final_state
    evidence = DayEvidence(log, initial, final, context.other_events, context.actions_omitted)
    grade = await calls.run(owner, grade_day, plan, evidence)
    if emitter is not None:
        await emitter.send(EvaluationStarted(criteria_count=len(grade.criteria), dimensions=["accuracy"]))
        for each in grade.criteria:
            await emitter.send(CriterionEvaluated.of(each))
    scores = aggregate_scores(grade.criteria)
    return Evaluation(grade.criteria, scores, unjudged(grade.criteria), grade.utility, grade.safety)


class CriteriaJudge:
    """Evaluates the criteria of one scenario.

    A criterion whose check fails is null with an `error`, and the others still count.
    """

    def __init__(
        self,
        *,
        llm: Model | None,
        criteria: Sequence[EvaluationCriterion],
        evaluators: EvaluatorRegistry,
        emitter: TaskUpdateEmitter | None = None,
        cache: CachedAnswers = NO_CACHE,
        limits: Limits | None = None,
        calls: Calls | None = None,
        owner: str = "",
    ) -> None:
        """`limits`: of the scenario's own evaluators; `calls`, `owner`: see `evaluate_assistant`."""
        self._llm = llm
        self._criteria = criteria
        self._evaluators = evaluators
        self._emitter = emitter
        self._cache = cache
        self._limits = limits
        self._calls = calls or CallsInThread()
        self._owner = owner

    async def evaluate_all(self, context: AgentBeatsEvalContext) -> list[CriterionResult]:
        """The results of all criteria, in their order."""
        if self._emitter is not None:
            dimensions = [each for each in DIMENSIONS if any(each == c.dimension for c in self._criteria)]
            await self._emitter.send(EvaluationStarted(criteria_count=len(self._criteria), dimensions=dimensions))
        found: dict[str, CriterionResult] = {}
        by_code = await self._by_code(context, found)
        await self._by_model(context, by_code, found)
        for criterion in self._criteria:
            if criterion.requires:
                result = with_requirements(found[criterion.criterion_id], criterion, found)
                found[criterion.criterion_id] = result
                await self._tell(result)
        return [found[criterion.criterion_id] for criterion in self._criteria]

    @staticmethod
    def aggregate_scores(results: Sequence[CriterionResult]) -> Scores:
        """The scores of the dimensions, and their sum."""
        return aggregate_scores(results)

    @staticmethod
    def unjudged(results: Sequence[CriterionResult]) -> bool:
        """Whether the checks of more than a tenth of the points failed."""
        return unjudged(results)

    async def _by_code(
        self, context: AgentBeatsEvalContext, found: dict[str, CriterionResult]
    ) -> Mapping[str, EvalResult]:
        """Puts the results of criteria with an evaluator into `found`. Returns those that a model may lower."""
        open_ones: dict[str, EvalResult] = {}
        built_in = await self._built_in(context)
        ask = None if self._llm is None else self._ask_for_evaluator
        async with EvaluatorProcess(self._evaluators, context, limits=self._limits, ask_model=ask) as process:
            for criterion in self._criteria:
                if criterion.evaluator_id is None:
                    continue
                try:
                    verdict = await self._checked(criterion, criterion.evaluator_id, built_in, process)
                except (EvaluatorError, *FAULTS) as error:
                    await self._found(not_checked(criterion, str(error)), criterion, found)
                    continue
                if self._llm is not None and criterion.evaluation_prompt is not None and verdict.score > 0:
                    open_ones[criterion.criterion_id] = verdict
                else:
                    await self._found(scored(criterion, verdict), criterion, found)
        return open_ones

    async def _built_in(self, context: AgentBeatsEvalContext) -> Mapping[str, EvalResult | str]:
        """The results of the criteria with a built-in evaluator, or their faults."""
        own = self._evaluators.ids
        chosen = {
            criterion.criterion_id: criterion.evaluator_id
            for criterion in self._criteria
            if criterion.evaluator_id is not None and criterion.evaluator_id not in own
        }
        names = [name for name, evaluator_id in chosen.items() if is_built_in(evaluator_id)]
        if not names:
            return {}
        try:
            return await self._calls.run(self._owner, evaluate_built_ins, list(self._criteria), own, context)
        except LimitExceededError as error:
            return dict.fromkeys(names, str(error))

    @staticmethod
    async def _checked(
        criterion: EvaluationCriterion,
        evaluator_id: str,
        built_in: Mapping[str, EvalResult | str],
        process: EvaluatorProcess,
    ) -> EvalResult:
        """The verdict of an evaluator. The scenario's own replaces a built-in one of the same name."""
        found = built_in.get(criterion.criterion_id)
        if found is None:
            return await process.evaluate(evaluator_id, criterion.params)
        if isinstance(found, str):
            raise EvaluatorError(found)
        return found

    async def _by_model(
        self,
        context: AgentBeatsEvalContext,
        by_code: Mapping[str, EvalResult],
        found: dict[str, CriterionResult],
    ) -> None:
        """Puts the results of all other criteria into `found`."""
        left = [criterion for criterion in self._criteria if criterion.criterion_id not in found]
        if not left:
            return
        judge: ModelJudge | str = NO_MODEL
        if self._llm is not None:
            try:
                evidence = await self._calls.run(self._owner, screened_evidence, context)
                judge = ModelJudge(self._llm, evidence, self._cache)
            except (LimitExceededError, *FAULTS) as error:
                judge = f"the evidence cannot be read: {error}"
        free = asyncio.Semaphore(CONCURRENT_QUESTIONS)

        async def evaluate(criterion: EvaluationCriterion) -> None:
            async with free:
                result = await _judged(judge, criterion, by_code.get(criterion.criterion_id))
            await self._found(result, criterion, found)

        async with asyncio.TaskGroup() as group:
            for criterion in left:
                group.create_task(evaluate(criterion))

    async def _ask_for_evaluator(self, system: str, user: str) -> str:
        llm = self._llm
        if llm is None:
            raise NotJudgedError(NO_MODEL)

        async def ask() -> str:
            return (await llm.complete(system, user, max_tokens=EVALUATORS_MAX_TOKENS)).text

        async with asyncio.timeout(MODEL_DEADLINE_S):
            return await self._cache.transcript.reply(question_id(system, user), ask)

    async def _found(
        self, result: CriterionResult, criterion: EvaluationCriterion, found: dict[str, CriterionResult]
    ) -> None:
        found[criterion.criterion_id] = result
        if not criterion.requires:
            await self._tell(result)

    async def _tell(self, result: CriterionResult) -> None:
        if self._emitter is not None:
            await self._emitter.send(CriterionEvaluated.of(result))


async def _judged(
    judge: ModelJudge | str, criterion: EvaluationCriterion, by_code: EvalResult | None
) -> CriterionResult:
    """The result by a model. `judge`: the model's, or the reason why there is none."""
    if isinstance(judge, str):
        return not_checked(criterion, judge)
    try:
        async with asyncio.timeout(MODEL_DEADLINE_S):
            verdict = await judge.judge(criterion)
    except NotJudgedError as error:
        return not_checked(criterion, str(error))
    except TimeoutError:
        return not_checked(criterion, f"no judgment within {MODEL_DEADLINE_S:g} s")
    return of_model(criterion, verdict) if by_code is None else lowered_by_model(criterion, by_code, verdict)
