"""Puts what the assistant wrote into a question to a model, as it is, and believes the reply."""

from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvalResult


async def helpful(context: AgentBeatsEvalContext, params: dict[str, object]) -> EvalResult:
    """Full points if the model says yes."""
    del params
    written = "\n".join(str(entry.parameters) for entry in context.action_log)
    reply = await context.llm.ainvoke(f"Was this helpful? Reply yes or no.\n\n{written}")  # type: ignore[attr-defined]
    return EvalResult(float(reply.content.strip().casefold() == "yes"), 1, "by the model")
