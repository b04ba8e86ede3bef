"""`python -m tests.integration.environment.mood_service`: the service with the modality `mood`, and with pinning."""

from concord_environment.modalities import email, installed
from tests.integration.environment import mood, pinning

_others = tuple(each for each in installed.MODALITIES if each is not email.MODALITY)
installed.MODALITIES = (pinning.MODALITY, *_others, mood.MODALITY)  # type: ignore[misc]

from concord_environment.__main__ import main  # noqa: E402 - what is imported here reads the list of modalities

if __name__ == "__main__":
    main()
