"""The rows of traces: evaluated in this process and, where there are many, in others beside it."""

import gc
import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from time import sleep
from typing import TYPE_CHECKING, Final

from concord.assessment import AssessmentConfig
from concord.assessment.result_row import ResultRow
from concord_cli.errors import UsageError
from concord_cli.evaluate.inputs import find_inputs, is_recording, traces_in
from concord_cli.results_file import rows_in
from concord_evaluator.expectations import Expectations, graded
from concord_evaluator.formats import FormatError, Trace
from concord_evaluator.offline import evaluate_trace

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

ALONE: Final = 100
"""Traces that this process evaluates by itself, since another one takes a second to start."""

MAX_HELPERS: Final = 3
"""Limit of other processes, each of which takes about 120 MiB."""

_AHEAD: Final = 4
"""Traces that wait for each helper."""

_COLLECT_EVERY: Final = 100
_WATCH_S: Final = 1.0


_Evaluation = tuple[Trace, Future[ResultRow]]


class TraceRows:
    """Evaluates traces, and yields their rows in the order of the traces. `config`: of the evaluation."""

    def __init__(self, config: AssessmentConfig, helpers: int | None = None) -> None:
        """`helpers`: other processes; None for one less than the processors that this process may use."""
        self._config = config
        self._helpers = min(processors() - 1, MAX_HELPERS) if helpers is None else helpers
        self._pool: ProcessPoolExecutor | None = None
        self._taken = 0

    def close(self) -> None:
        """Ends the helpers. What they have not finished is lost."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def of(self, traces: Iterable[Trace]) -> Iterator[ResultRow]:
        """Their rows. Raises FormatError for a trace that cannot be read or evaluated, after the rows before it."""
        pending: deque[_Evaluation] = deque()
        fault: FormatError | None = None
        try:
            for trace in traces:
                self._taken += 1
                pending.append((trace, self._evaluation(trace, pending)))
                del trace  # it may be large, and so may the next one
                while pending and pending[0][1].done():
                    yield self._finished(*pending.popleft())
                if self._taken % _COLLECT_EVERY == 0:
                    gc.collect(1)
        except FormatError as error:
            fault = error
        while pending:
            yield self._finished(*pending.popleft())
        if fault is not None:
            raise fault

    def _evaluation(self, trace: Trace, pending: Iterable[_Evaluation]) -> Future[ResultRow]:
        """The row of a trace: of this process while all helpers have enough to do."""
        if self._taken > ALONE and sum(not future.done() for _, future in pending) < self._helpers * _AHEAD:
            with suppress(BrokenExecutor):
                return self._started().submit(evaluate_trace, trace, self._config)
        done: Future[ResultRow] = Future()
        try:
            done.set_result(evaluate_trace(trace, self._config))
        except Exception as error:
            done.set_exception(error)
        return done

    def _finished(self, trace: Trace, evaluation: Future[ResultRow]) -> ResultRow:
        try:
            return evaluation.result()
        except BrokenExecutor:  # something killed a helper
            return evaluate_trace(trace, self._config)
        except Exception as error:
            reason = f"{trace.trace_id} cannot be evaluated: {type(error).__name__}: {error}"
            raise FormatError(trace.origin.file, trace.origin.line, reason) from error

    def _started(self) -> "ProcessPoolExecutor":
        if self._pool is None:
            from concurrent.futures import ProcessPoolExecutor  # most files have few traces, and these are slow imports
            from multiprocessing import get_context

            self._pool = ProcessPoolExecutor(self._helpers, get_context("spawn"), _prepare, (os.getpid(),))
        return self._pool


def rows_of(path: Path, expected: Expectations | None) -> Iterator[ResultRow]:
    """The rows of a results file, without their tables, or those of recordings: a file of traces, or a folder.

    `expected`: answers of the recordings. Raises UsageError, also for a file in the folder that is no trace.
    """
    if not is_recording(path):
        yield from rows_in(path, tables=False)
        return
    try:
        with closing(TraceRows(AssessmentConfig())) as rows:
            for file in find_inputs([path]).paths:
                yield from rows.of(graded(trace, expected) for trace in traces_in(file, None))
    except FormatError as error:
        raise UsageError(str(error)) from error


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _prepare(parent: int) -> None:
    """Leaves signals to the parent, and ends with it, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int, wait: Callable[[float], None] = sleep) -> None:
    while os.getppid() == parent:
        wait(_WATCH_S)
    os._exit(1)
