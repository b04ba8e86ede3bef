"""Recurrence rules and attachments in the form of UES's Python client, which differs from the form of UES's server."""

from collections.abc import Mapping
from typing import Any, Final

WEEKDAYS: Final = {
    "monday": "MO",
    "tuesday": "TU",
    "wednesday": "WE",
    "thursday": "TH",
    "friday": "FR",
    "saturday": "SA",
    "sunday": "SU",
}
"""The weekdays of RFC 5545."""

_DAY_NAMES: Final = {code: name for name, code in WEEKDAYS.items()}
_PARTS: Final = {"by_day": "BYDAY", "by_month_day": "BYMONTHDAY", "by_month": "BYMONTH", "by_set_pos": "BYSETPOS"}
_ATTACHMENT_NAMES: Final = {"title": "filename", "file_url": "url", "file_id": "attachment_id"}


def attachment_fields(value: object) -> object:
    """The server's fields of an attachment in either form. A value that is not an object passes unchanged."""
    if not isinstance(value, Mapping):
        return value
    renamed = {_ATTACHMENT_NAMES[name]: part for name, part in value.items() if name in _ATTACHMENT_NAMES}
    return {**renamed, **{name: part for name, part in value.items() if name not in _ATTACHMENT_NAMES}}


def rule_fields(value: object) -> object:
    """The server's fields of a recurrence rule in either form. A value that is not an object passes unchanged.

    A rule that the server's fields cannot express becomes an RRULE of RFC 5545.
    """
    if not isinstance(value, Mapping) or not isinstance(value.get("frequency"), str):
        return value
    rule: dict[str, Any] = {**value, "frequency": value["frequency"].lower()}
    given = {name: part for name in (*_PARTS, "until") if (part := rule.pop(name, None)) is not None}
    if "end_type" not in rule and ("until" in given or rule.get("count") is not None):
        rule["end_type"] = "until" if "until" in given else "count"
        rule["end_date"] = str(given["until"])[:10] if "until" in given else None
    if not all(isinstance(given.get(name, []), list) for name in _PARTS) or rule.get("rrule") is not None:
        return rule
    return {**rule, **_by_fields(rule, {name: given[name] for name in _PARTS if name in given})}


def _by_fields(rule: Mapping[str, Any], given: Mapping[str, list[Any]]) -> dict[str, Any]:
    days, month_days = given.get("by_day", []), given.get("by_month_day", [])
    months, positions = given.get("by_month", []), given.get("by_set_pos", [])
    is_plain = all(day in _DAY_NAMES for day in days) and all(isinstance(day, int) and day > 0 for day in month_days)
    if is_plain and len(month_days) <= 1 and len(months) <= 1 and not positions:
        fields = {
            "days_of_week": [_DAY_NAMES[day] for day in days] or None,
            "day_of_month": month_days[0] if month_days else None,
            "month_of_year": months[0] if months else None,
        }
        return {name: part for name, part in fields.items() if part is not None}
    parts = [f"FREQ={rule['frequency'].upper()}", f"INTERVAL={rule.get('interval', 1)}"]
    parts += [f"{_PARTS[name]}={','.join(map(str, values))}" for name, values in given.items()]
    if rule.get("end_type") == "count":
        parts.append(f"COUNT={rule['count']}")
    elif rule.get("end_type") == "until":
        parts.append(f"UNTIL={str(rule['end_date']).replace('-', '')}T235959Z")
    return {"rrule": ";".join(parts)}


def client_rule(rrule: str) -> dict[str, Any]:
    """The fields of the client's form of an RRULE that the server's form does not have."""
    parts = dict(part.split("=", 1) for part in rrule.split(";"))
    numbers = {
        name: [int(number) for number in parts[part].split(",") if number]
        for name, part in _PARTS.items()
        if part in parts and name != "by_day"
    }
    days = [day for day in parts["BYDAY"].split(",") if day] if "BYDAY" in parts else None
    return {"by_day": days, "until": parts.get("UNTIL"), **numbers}
