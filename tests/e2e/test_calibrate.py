"""`concord run --models` as users start it: a scripted endpoint, a replay of what it answered, and one that is down."""

from pathlib import Path
from typing import Any

import pytest

from concord_cli.calibrate.command import DOCUMENT, calibrate, local_play
from concord_cli.calibrate.table import Calibration
from concord_cli.errors import IncompleteError
from concord_cli.terminal import ProgressLog
from concord_suites import FAMILIES
from concord_suites.player import NotATurnError, reply
from tests.kit.exchanges import Recorder, replaying
from tests.kit.llm_server import FakeModel, fake_model
from tests.kit.serving import served

pytestmark = pytest.mark.programs

CONFIG = '[config]\nsuite = "maximum"\nseats = 2\ndifficulty = 1\ncontrols = ["silent"]\n'


def listed(**addresses: str) -> str:
    models = (f'[[models]]\nname = "{name}"\nmodel = "m"\nbase_url = "{url}"\n' for name, url in addresses.items())
    return CONFIG + "".join(models)


async def test_a_replay_of_a_models_answers_has_the_models_row(tmp_path: Path) -> None:
    models, output = tmp_path / "models.toml", tmp_path / "out"
    play = local_play(ProgressLog())

    def by_rules(asked: dict[str, Any]) -> str:
        try:
            return reply(asked["messages"][-1]["content"], FAMILIES)
        except NotATurnError:  # the first request, which only finds out whether the endpoint answers
            return "yes"

    async with fake_model(FakeModel(by_rules)) as settings:
        recorder = Recorder(settings.base_url.removesuffix("/v1"))
        async with served(recorder.app()) as url:
            models.write_text(listed(scripted=f"{url}/v1"))
            await calibrate(models, output, play, ProgressLog())
    async with served(replaying(recorder.kept)) as replay:
        models.write_text(listed(scripted=f"{url}/v1", replayed=f"{replay}/v1", down="http://127.0.0.1:9/v1"))
        with pytest.raises(IncompleteError, match="down"):
            await calibrate(models, output, play, ProgressLog())
    scripted, replayed, down = Calibration.model_validate_json((output / DOCUMENT).read_bytes()).entries
    assert scripted.score is not None
    assert (scripted.score.value, scripted.tokens) == (100, 15 * (scripted.model_calls or 0))
    same = {"score", "information", "silent", "model_calls", "tokens", "ranking_kind"}
    assert replayed.model_dump(include=same) == scripted.model_dump(include=same)
    assert down.error is not None
