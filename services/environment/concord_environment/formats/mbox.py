"""RFC 4155 mailboxes (mbox)."""

import mailbox
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Final

from concord_environment.core.faults import Invalid
from concord_environment.formats.eml import from_eml, to_eml
from concord_environment.modalities.email.state import Email

MAX_MAILS: Final = 50_000


def to_mbox(emails: Iterable[Email]) -> bytes:
    """Mails as an mbox file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mbox"
        box = mailbox.mbox(path)
        for email in emails:
            message = mailbox.mboxMessage(to_eml(email))
            message.set_from("environment", email.received_at.timetuple())
            box.add(message)
        box.close()
        return path.read_bytes()


def from_mbox(content: bytes, *, user: str, fallback: datetime) -> Iterator[Email]:
    """The mails of an mbox file, in its order. Raises Invalid at the first malformed mail, with its number."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mbox"
        path.write_bytes(content)
        with closing(mailbox.mbox(path, create=False)) as box:
            if len(box) == 0 or len(box) > MAX_MAILS:
                raise Invalid(f"the mbox file must have between 1 and {MAX_MAILS} emails, each after a 'From ' line")
            for number, key in enumerate(box.keys(), start=1):
                try:
                    yield from_eml(box.get_bytes(key), user=user, fallback=fallback)
                except Invalid as fault:
                    raise Invalid(f"email {number}: {fault}") from fault
