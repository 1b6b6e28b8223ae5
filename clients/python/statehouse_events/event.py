"""An event, and how it is read from a message of the stream."""

import contextlib
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar
from urllib.parse import unquote

from .message import Message


@dataclass(frozen=True, kw_only=True)
class AuthContext:
    """Who caused an event, in the form of the extension "auth context" of CloudEvents."""

    type: str
    """The kind of principal: user, api_key, service_account, system or unknown."""
    id: str
    """The id of the principal; empty if unknown."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One change, in the form of CloudEvents 1.0."""

    id: str
    """Unique; a repeated delivery has the same id."""
    type: str
    """``statehouse.<service>.<noun>.<verb>.v1``"""
    organization_id: str | None
    """The organization of the changed object; None for objects of the whole installation."""
    source: str
    """The installation and the service that owns the changed object."""
    subject: str
    """The id of the changed object."""
    revision: int
    """Grows with each change. Apply the event only if the object's stored revision is lower."""
    time: datetime
    """When the change was recorded."""
    traceparent: str | None
    """The trace of the request that made the change."""
    auth: AuthContext | None
    """Who made the change; None if unknown."""
    json: str
    """The message; ``decode`` parses it."""
    is_listed: bool = False
    """Whether the event comes from the listing: it then describes an object and not a change."""


M = TypeVar("M", bound=Message)
EventFunction = Callable[[Event], Awaitable[None]]


@dataclass(frozen=True)
class Handler:
    """Processes the events of one type."""

    type: str
    handle: EventFunction


def on(message_type: type[M], handle: Callable[[M, Event], Awaitable[None]]) -> Handler:
    """Create a handler whose function receives the decoded message."""

    async def decoded(event: Event) -> None:
        await handle(decode(event, message_type), event)

    return Handler(message_type.TYPE, decoded)


def decode(event: Event, message_type: type[M]) -> M:
    """Parse the message of an event. Unknown fields, which later releases may add, are ignored."""
    return message_type.from_json(event.json)


def by_type(handlers: Iterable[Handler]) -> dict[str, Handler]:
    """Return the handlers by their type. Raise ValueError if a type has two."""
    result: dict[str, Handler] = {}
    for handler in handlers:
        if handler.type in result:
            raise ValueError(f"{handler.type} has two handlers")
        result[handler.type] = handler
    return result


INSTALLATION = "_"
"""The last part of the subject of events that belong to no organization."""


_MAX_REVISION = 2**53 - 1
"""The highest number that all languages and databases represent exactly."""
_FIRST_TIME = datetime.fromtimestamp(0, UTC)


def _without_nul(text: str) -> str:
    """Replace NUL, which PostgreSQL cannot store in a text."""
    return text.replace("\0", "\ufffd")


def event_from(
    subject: str, headers: Mapping[str, str], content: bytes, received: datetime
) -> Event:
    """Read an event from a message of the stream.

    Every field of the event can be stored in a database, because a forged event that cannot be
    stored as a dead letter would be delivered again without end. The type is read from the subject
    and not from a header, because NATS permits each user to publish only to certain subjects.
    """

    def header(name: str) -> str:
        return _without_nul(_decode_header(headers.get(f"ce-{name}", "")))

    parts = re.fullmatch(r"(.+\.v\d+)\.([^.]+)", subject)
    organization = parts[2] if parts else None
    time = received
    with contextlib.suppress(ValueError, OverflowError):
        recorded = datetime.fromisoformat(header("time")).astimezone(UTC)
        if recorded >= _FIRST_TIME:
            time = recorded
    sequence = header("sequence")
    revision = int(sequence) if re.fullmatch("[0-9]{1,30}", sequence) else 0
    kind = header("authtype")
    return Event(
        id=header("id"),
        type=parts[1] if parts else subject,
        organization_id=None if organization == INSTALLATION else organization,
        source=header("source"),
        subject=header("subject"),
        revision=revision if revision <= _MAX_REVISION else 0,
        time=time,
        traceparent=header("traceparent") or None,
        auth=AuthContext(type=kind, id=header("authid")) if kind else None,
        json=_without_nul(content.decode(errors="replace")),
    )


def _decode_header(value: str) -> str:
    """Decode the value of a header, which CloudEvents encodes with percent signs."""
    quoted = re.fullmatch(r'"(.*)"', value, re.DOTALL)
    if quoted:
        value = re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL)
    if re.search("%(?![0-9A-Fa-f]{2})", value):
        return value
    try:
        return unquote(value, errors="strict")
    except UnicodeDecodeError:
        return value


def reaches(subject_filter: str, event_type: str) -> bool:
    """Return whether some subject of this event type matches a filter with wildcards of NATS."""
    wanted = subject_filter.split(".")
    tokens = [*event_type.split("."), "*"]
    if wanted[-1] == ">":
        wanted = wanted[:-1]
        if len(tokens) <= len(wanted):
            return False
    elif len(wanted) != len(tokens):
        return False
    return all(
        one == "*" or other in ("*", one) for one, other in zip(wanted, tokens, strict=False)
    )


MAIL_SUBJECTS = "statehouse-mail."


def stream_of(subject: str) -> str:
    """Return the stream that contains the subjects of an event type or a filter."""
    return "STATEHOUSE_MAIL" if subject.startswith(MAIL_SUBJECTS) else "STATEHOUSE"
