"""What the program, its pool and agents import or compute once they work: a fork server, which imports this, before."""

from collections.abc import Iterator

import uvloop  # noqa: F401

import concord_evaluator.worker.jobs  # noqa: F401
from concord.assessment.table import Record
from concord.judging.injection import LANGUAGES, team_patterns
from concord.suite.task import installed_suites


def _records(of: type[Record]) -> Iterator[type[Record]]:
    for each in of.__subclasses__():
        yield each
        yield from _records(each)


team_patterns(*LANGUAGES)
installed_suites()
for _record in _records(Record):
    _record.model_rebuild()
