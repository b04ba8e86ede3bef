"""What is frozen before a held-out corpus is read: the rules, their thresholds, and the metrics."""

from hashlib import blake2b
from pathlib import Path
from typing import Final

import concord.assessment.observations
import concord.trace.effects
import concord_evaluator.diagnosis
import concord_evaluator.observations

FILE: Final = Path(__file__).with_name("frozen.txt")


def frozen_sources() -> list[Path]:
    """The sources of all finders, of the ties to graded parts, of the reading order, and of the metrics."""
    rules = Path(concord_evaluator.observations.__file__).parent.glob("*.py")
    models = (concord.assessment.observations, concord.trace.effects, concord_evaluator.diagnosis)
    metrics = (Path(__file__).with_name(name) for name in ("baselines.py", "labels.py", "measures.py"))
    return [*sorted(rules), *(Path(str(module.__file__)) for module in models), *metrics]


def digest_of_rules() -> str:
    """A digest of the frozen sources, whatever folder they are in."""
    found = blake2b(digest_size=8)
    for path in frozen_sources():
        content = path.read_bytes()
        found.update(f"{path.name} {len(content)}\n".encode() + content)
    return found.hexdigest()
