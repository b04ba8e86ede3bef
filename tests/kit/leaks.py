"""A search for the remains of a secret in a text, independent of the code that removes secrets."""

import base64

PART = 16


def forms(secret: str) -> dict[str, str]:
    """The forms in which an attacker may write a secret to hide it from redaction."""
    end = secret.rpartition(".")[2]
    whole, rest = secret.encode(), end.encode()
    return {
        "as it is": secret,
        "in base64": base64.b64encode(whole).decode(),
        "in base64 without padding": base64.b64encode(whole).decode().rstrip("="),
        "in URL-safe base64": base64.urlsafe_b64encode(whole).decode(),
        "in URL-safe base64 without padding": base64.urlsafe_b64encode(whole).decode().rstrip("="),
        "in base64, one further": base64.b64encode(b"?" + whole + b"?").decode(),
        "in base64, two further": base64.b64encode(b"??" + whole + b"??").decode(),
        "its end": end,
        "the base64 of its end": base64.b64encode(rest).decode(),
        "the base64 of its end, one further": base64.urlsafe_b64encode(b"?" + rest).decode(),
        "sixteen of it": end[3:19],
        "twenty of it": end[-20:],
        "the base64 of twenty of it": base64.b64encode(end[8:28].encode()).decode(),
    }


def left_of(secret: str, text: bytes) -> set[str]:
    """The parts of a secret, 16 characters each, that are in a text, whether plain or in any base64."""
    end = secret.rpartition(".")[2].encode()
    written = {end} | {
        encode(bytes(shift) + end)[-(-shift * 8 // 6) : (shift + len(end)) * 8 // 6]
        for encode in (base64.b64encode, base64.urlsafe_b64encode)
        for shift in range(3)
    }
    parts = {form[at : at + PART] for form in written for at in range(len(form) - PART + 1)}
    return {part.decode() for part in parts if part in text}
