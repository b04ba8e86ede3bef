"""`python -m tests.integration.environment.mood_service`: the environment service with the modality `mood`."""

from concord_environment.modalities import installed
from tests.integration.environment.mood import MODALITY

installed.MODALITIES = (*installed.MODALITIES, MODALITY)  # type: ignore[misc]

from concord_environment.__main__ import main  # noqa: E402 - what is imported here reads the list of modalities

if __name__ == "__main__":
    main()
