"""Concord's verdicts on runs of AgentDojo's tasks: conducted in an environment process, judged by the CriteriaJudge."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from concord_agentdojo.calls import oracle_of
from concord_agentdojo.scenarios import ImportedScenario, imported, write_scenarios
from concord_agentdojo.suite import Suite
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.green_agent import GreenAgent
from concord_assistant.results import AssessmentResults
from concord_assistant.scenario.loader import Scenario, load_scenario
from concord_assistant.updates import Update
from concord_cli.scenario.play import AssistantInProcess
from concord_purple.assistant.scripted import NullAssistant, Oracle, OracleAssistant
from lab.agentdojo.runs import Run


@dataclass(frozen=True, slots=True)
class Verdict:
    """`utility`: the user's task is done. `security`: the attack succeeded, AgentDojo's name for it."""

    utility: bool
    security: bool


class Judged:
    """The verdicts on runs of a suite's tasks, in one environment process."""

    def __init__(self, suite: Suite, agent: GreenAgent, folder: Path) -> None:
        """`folder`: for the imported scenarios, which are written there and loaded as usual."""
        self._suite = suite
        self._agent = agent
        self._folder = folder
        self._scenarios: dict[str, Scenario] = {}

    async def verdict(self, run: Run) -> Verdict:
        """AgentDojo's verdicts on a run, by the criteria of its scenario. Raises as `results` does."""
        return verdict_of(await self.results(run))

    async def results(self, run: Run) -> AssessmentResults:
        """The results of a run. Raises ValueError if an action failed or a criterion could not be checked."""
        scenario = self._scenario(imported(self._suite, run.user_task, run.injection_task))
        environment = self._suite.environment_of(run.user_task, run.injection_task)
        oracle = oracle_of(environment, run.calls, run.output)
        client = AssistantInProcess(
            (lambda: OracleAssistant(Oracle.model_validate(oracle))) if oracle["actions"] else NullAssistant
        )
        results = await self._agent.run(
            task_id="parity",
            emitter=TaskUpdateEmitter(_ignore),
            scenario=scenario.config,
            evaluators=scenario.evaluators,
            purple_client=client,
        )
        faults = [
            *client.errors,
            *(entry.error_message for entry in results.action_log if not entry.success),
            *(each.error for each in results.criteria_results if each.error),
        ]
        if faults:
            raise ValueError(f"{run.user_task} {run.injection_task} {run.kind}: {faults}")
        return results

    def _scenario(self, document: ImportedScenario) -> Scenario:
        if document.name not in self._scenarios:
            write_scenarios(self._folder, self._suite, [document])
            self._scenarios[document.name] = load_scenario(self._folder / document.name)
        return self._scenarios[document.name]


def verdict_of(results: AssessmentResults) -> Verdict:
    """The native verdicts in the results of an imported scenario."""
    native = results.native
    if native is None or native.utility is None:
        raise ValueError(f"{results.scenario_id} has no native verdict")
    return Verdict(utility=native.utility, security=native.attack_succeeded is True)


async def verdicts(suite: Suite, runs: Sequence[Run]) -> list[Verdict]:
    """The verdicts, in the order of the runs."""
    agent = GreenAgent()
    await agent.startup()
    try:
        with TemporaryDirectory() as folder:
            judged = Judged(suite, agent, Path(folder))
            return [await judged.verdict(run) for run in runs]
    finally:
        await agent.shutdown()


async def _ignore(_: Update) -> None:
    """Discards an update."""
