"""RFC 5322 messages (.eml). Attachments are read without their content."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.headerregistry import Address
from email.message import EmailMessage, MIMEPart
from email.utils import format_datetime, getaddresses, parsedate_to_datetime
from hashlib import sha256
from typing import Final

from pydantic import TypeAdapter, ValidationError

from concord_environment.core.clock import as_utc
from concord_environment.core.faults import Invalid
from concord_environment.modalities.email.state import Attachment, Email, Priority
from concord_environment.modalities.registry import reasons

DOMAIN: Final = "environment.invalid"
"""The domain of Message-IDs generated here, reserved by RFC 2606."""

MAX_SUBJECT: Final = 2_000
_EMAIL: Final[TypeAdapter[Email]] = TypeAdapter(Email)
_PRIORITIES: Final[dict[str, Priority]] = {"1": "high", "2": "high", "4": "low", "5": "low"}


def to_eml(email: Email) -> bytes:
    """A mail as an RFC 5322 message. X- headers hold its folder, flags and labels for `from_eml`."""
    message = EmailMessage(policy=policy.SMTP)
    message["Message-ID"] = _bracketed(email.message_id)
    message["Date"] = format_datetime(email.sent_at)
    message["From"] = Address(addr_spec=email.from_address)
    for header, addresses in (("To", email.to_addresses), ("Cc", email.cc_addresses), ("Bcc", email.bcc_addresses)):
        if addresses:
            message[header] = [Address(addr_spec=address) for address in addresses]
    if email.reply_to_address:
        message["Reply-To"] = Address(addr_spec=email.reply_to_address)
    message["Subject"] = " ".join(email.subject.split())
    if email.in_reply_to:
        message["In-Reply-To"] = _bracketed(email.in_reply_to)
    if email.references:
        message["References"] = " ".join(_bracketed(reference) for reference in email.references)
    message["X-Priority"] = {"high": "1", "normal": "3", "low": "5"}[email.priority]
    message["X-Environment-Folder"] = email.folder
    message["X-Environment-Flags"] = " ".join(_flags(email))
    for label in email.labels:
        message["X-Environment-Label"] = label
    message.set_content(email.body_text)
    if email.body_html is not None:
        message.add_alternative(email.body_html, subtype="html")
    return message.as_bytes()


@dataclass(frozen=True, slots=True)
class _Parts:
    text: str
    html: str | None
    attachments: tuple[Attachment, ...]


def from_eml(content: bytes, *, user: str, fallback: datetime) -> Email:
    """A message as a mail: in the folder `sent` if the user sent it, else in `inbox`, unless a header names another.

    `fallback` is the date of a message without one. Raises Invalid for a malformed message.
    """
    message = message_from_bytes(content, _class=EmailMessage, policy=policy.default)
    sent_at = _date(message, fallback)
    sender = _addresses(message, "From")
    if not sender:
        raise Invalid("From: missing, or not an email address")
    message_id = _ids(message, "Message-ID") or (f"{sha256(content).hexdigest()[:32]}@{DOMAIN}",)
    parts = _parts(message)
    own = sender[0].casefold() == user.casefold()
    flags = str(message.get("X-Environment-Flags", "read" if own else "")).split()
    fields = {
        "message_id": message_id[0],
        "thread_id": message_id[0],
        "from_address": sender[0],
        "to_addresses": _addresses(message, "To"),
        "cc_addresses": _addresses(message, "Cc"),
        "bcc_addresses": _addresses(message, "Bcc"),
        "reply_to_address": next(iter(_addresses(message, "Reply-To")), None),
        "subject": str(message.get("Subject", ""))[:MAX_SUBJECT],
        "sent_at": sent_at,
        "received_at": sent_at,
        "body_text": parts.text,
        "body_html": parts.html,
        "attachments": parts.attachments,
        "in_reply_to": next(iter(_ids(message, "In-Reply-To")), None),
        "references": _ids(message, "References"),
        "is_read": "read" in flags,
        "is_starred": "starred" in flags,
        "priority": _PRIORITIES.get(str(message.get("X-Priority", ""))[:1], "normal"),
        "folder": str(message.get("X-Environment-Folder", "sent" if own else "inbox")),
        "labels": tuple(dict.fromkeys(str(label) for label in message.get_all("X-Environment-Label", []))),
    }
    try:
        return _EMAIL.validate_python(fields)
    except ValidationError as error:
        raise Invalid(reasons(error)) from error


def _flags(email: Email) -> Iterable[str]:
    if email.is_read:
        yield "read"
    if email.is_starred:
        yield "starred"


def _bracketed(message_id: str) -> str:
    return f"<{message_id}>" if "@" in message_id else f"<{message_id}@{DOMAIN}>"


def _ids(message: EmailMessage, header: str) -> tuple[str, ...]:
    words = str(message.get(header, "")).replace("<", " ").replace(">", " ").split()
    return tuple(dict.fromkeys(word.removesuffix(f"@{DOMAIN}") for word in words))[:1_000]


def _addresses(message: EmailMessage, header: str) -> tuple[str, ...]:
    found = getaddresses([str(value) for value in message.get_all(header, [])])
    return tuple(dict.fromkeys(address for _, address in found if address.count("@") == 1))


def _date(message: EmailMessage, fallback: datetime) -> datetime:
    try:
        moment = parsedate_to_datetime(str(message.get("Date", "")))
        return as_utc(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except ValueError:
        return fallback


def _parts(message: EmailMessage) -> _Parts:
    text, html = message.get_body(("plain",)), message.get_body(("html",))
    attachments = tuple(
        Attachment(
            filename=(part.get_filename() or "unnamed")[:200],
            size=len(part.get_payload(decode=True) or b""),
            mime_type=part.get_content_type()[:200],
            content_id=(str(part["Content-ID"]).strip("<>")[:200] or None) if part["Content-ID"] else None,
        )
        for part in message.iter_attachments()
    )
    return _Parts(_content(text), _content(html) if html else None, attachments)


def _content(part: MIMEPart | None) -> str:
    if part is None:
        return ""
    try:
        content = str(part.get_content())
    except (LookupError, ValueError):
        # An unknown charset.
        content = bytes(part.get_payload(decode=True) or b"").decode("utf-8", "replace")
    return content.replace("\r\n", "\n").removesuffix("\n")
