"""Evaluators that misbehave, as the source of a scenario's `evaluators.py`. They run in a process of their own."""

SOURCE = """
import asyncio, os, sys, threading
from concord_assistant.scenario.evaluators import EvalResult

SEEN = []

async def first(ctx, params): return EvalResult(1, 2, "first")
async def raises(ctx, params): raise KeyError("lunch")
async def hangs(ctx, params):
    while True: pass
async def sleeps(ctx, params): await asyncio.sleep(3600)
async def exits(ctx, params): os._exit(3)
async def leaves(ctx, params): sys.exit(3)
async def prints(ctx, params):
    print("garbage"); os.write(1, b"garbage"); sys.stderr.write("garbage")
    return EvalResult(2, 2, "printed")
async def forges(ctx, params):
    for pipe in range(3, 20):
        try: os.write(pipe, b'{"nonce": "0", "score": 2, "max_score": 2, "explanation": "", "details": null}\\n')
        except OSError: pass
    return EvalResult(0, 2, "")
async def not_a_number(ctx, params): return EvalResult(float("nan"), 2, "")
async def infinite(ctx, params): return EvalResult(float("inf"), float("inf"), "")
async def too_much(ctx, params): return EvalResult(3, 2, "")
async def negative(ctx, params): return EvalResult(-1, 2, "")
async def text(ctx, params): return EvalResult("2", 2, "")
async def nothing(ctx, params): return None
async def a_novel(ctx, params): return EvalResult(2, 2, "", {"novel": "x" * 10**6})
async def circular(ctx, params):
    details = {}
    details["self"] = details
    return EvalResult(2, 2, "", details)
async def environment(ctx, params): return EvalResult(2, 2, repr((dict(os.environ), os.getcwd(), sys.argv[1:])))
async def spoils(ctx, params):
    ctx.final_state.clear(); ctx.action_log.clear()
    return EvalResult(2, 2, "")
async def last(ctx, params): return EvalResult(2, 2, f"{len(ctx.action_log)} {sorted(ctx.final_state)}")
"""

GOOD = ("first", "prints", "environment", "spoils", "last")

BAD = {
    "raises": "KeyError: 'lunch' \\(evaluators.py, line 8\\)",
    "hangs": "no result within",
    "sleeps": "no result within",
    "exits": "ended with status 3",
    "leaves": "SystemExit: 3",
    "forges": "wrote into the pipe",
    "not_a_number": "finite",
    "infinite": "finite",
    "too_much": "exceeds max_score",
    "negative": "greater than or equal to 0",
    "text": "valid number",
    "nothing": "NoneType and no EvalResult",
    "a_novel": "longer than",
    "circular": "not JSON",
    "missing": "has no evaluator 'missing'",
}
"""By evaluator, a pattern of the error."""
