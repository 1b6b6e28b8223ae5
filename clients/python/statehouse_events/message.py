"""The base of all messages, which decodes and encodes their JSON."""

import json
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from types import NoneType, UnionType
from typing import Any, ClassVar, Self, get_args, get_origin, get_type_hints


def int64() -> Any:  # noqa: ANN401 - a field of a data class has the type that it is declared with
    """Declare a number that is a string in JSON, because some parsers lose digits of numbers."""
    return field(default=0, metadata={"is_text": True})


@dataclass(frozen=True, kw_only=True)
class Message:
    """The content of an event."""

    TYPE: ClassVar[str] = ""
    """The type of the event; empty for a message that only occurs inside other messages."""

    @classmethod
    def from_json(cls, content: str | bytes) -> Self:
        """Decode a message. Unknown fields, which later releases may add, are ignored."""
        return cls._from(json.loads(content))

    def to_json(self) -> str:
        """Encode the message. A field that is empty, zero or false is omitted."""
        return json.dumps(self._to_object(), ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def _from(cls, value: object) -> Self:
        if not isinstance(value, dict):
            raise ValueError(f"the message {cls.__name__} is not an object")
        hints = get_type_hints(cls)
        values = {}
        for each in fields(cls):
            given = value.get(_json_name(each.name))
            if given is not None:
                values[each.name] = _decode(hints[each.name], given, each.name)
        return cls(**values)

    def _to_object(self) -> dict[str, object]:
        result: dict[str, object] = {}
        for each in fields(self):
            value = getattr(self, each.name)
            if value != each.default:
                is_text = each.metadata.get("is_text", False)
                result[_json_name(each.name)] = str(value) if is_text else _encode(value)
        return result


def _json_name(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _decode(hint: object, value: object, name: str) -> object:
    if get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_decode(get_args(hint)[0], item, name) for item in value)
    if isinstance(hint, UnionType):
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
    if isinstance(hint, type) and issubclass(hint, Message):
        return hint._from(value)
    if hint is datetime and isinstance(value, str):
        return datetime.fromisoformat(value)
    if hint is int and isinstance(value, str | int) and not isinstance(value, bool):
        return int(value)
    if isinstance(hint, type) and isinstance(value, hint):
        return value
    raise ValueError(f"{name} has the invalid value {json.dumps(value)[:40]}")


def _encode(value: object) -> object:
    if isinstance(value, Message):
        return value._to_object()
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if isinstance(value, datetime):
        return format_time(value)
    return value


def format_time(value: datetime) -> str:
    """Return a time as JSON messages show it, with 0, 3 or 6 fractional digits as needed."""
    unit = "seconds"
    if value.microsecond:
        unit = "microseconds" if value.microsecond % 1000 else "milliseconds"
    return _in_utc(value, unit)


def format_event_time(value: datetime) -> str:
    """Return the time of an event as JSON shows it, always with milliseconds."""
    return _in_utc(value, "milliseconds")


def _in_utc(value: datetime, unit: str) -> str:
    return value.astimezone(UTC).isoformat(timespec=unit).replace("+00:00", "Z")
