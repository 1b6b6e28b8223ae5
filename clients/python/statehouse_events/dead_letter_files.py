"""Dead letters of a subscription as files."""

import contextlib
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cmp_to_key
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .durable_file import write_durably
from .event import AuthContext, Event, EventFunction, Handler, by_type
from .message import format_event_time
from .subscription import FailedEvent

_EXTENSION = ".json"
_MAX_ERROR_LENGTH = 1000
_MAX_NAME_LENGTH = 200
"""The maximum length of a file's name without its extension.

File systems allow 255 bytes, and ``write_durably`` first creates a draft, whose name is longer.
"""


@dataclass(frozen=True)
class _Stored:
    event: Event
    consumer: str
    failures: int
    error: str


@dataclass(frozen=True)
class Replay:
    """How many dead letters succeeded and failed."""

    replayed: int
    failed: int


class DeadLetterFiles:
    """Stores each dead letter of one subscription in a file of a folder.

    The packages of all languages use the same file format. Replicas can share a folder, which is
    created when the first dead letter is stored.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    async def store(self, failed: FailedEvent) -> None:
        """Store an event; ``subscribe`` takes this function as ``dead_letter``."""
        stored = _Stored(failed.event, failed.consumer, failed.failures, _describe(failed.error))
        self._write(self._folder / _name_of(failed.event), stored)

    def count(self) -> int:
        """Return the number of stored events, for an alert."""
        return len(self._files())

    async def replay(
        self, handlers: Iterable[Handler], otherwise: EventFunction | None = None
    ) -> Replay:
        """Call the handlers with the stored events, oldest first.

        An event whose handler succeeds is deleted. An event that fails again stays, with the new
        error. A file that cannot be read also stays and counts as failed. ``otherwise`` processes
        events of types without a handler.
        """
        known = by_type(handlers)
        found = self._files()
        stored: list[tuple[_Stored, Path]] = []
        for file in found:
            with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
                stored.append((_read(file), file))
        failed = len(found) - len(stored)
        stored.sort(key=lambda each: _order(each[0]))
        for each, file in stored:
            handler = known.get(each.event.type)
            handle = handler.handle if handler else otherwise
            try:
                if handle is None:
                    raise LookupError(f"there is no handler for {each.event.type}")
                await handle(each.event)
            except Exception as error:  # noqa: BLE001 - a handler may raise anything
                failed += 1
                failures = each.failures + 1
                self._write(file, _Stored(each.event, each.consumer, failures, _describe(error)))
            else:
                file.unlink(missing_ok=True)
        return Replay(len(found) - failed, failed)

    def _files(self) -> list[Path]:
        return sorted(self._folder.glob(f"*{_EXTENSION}"))

    def _write(self, file: Path, stored: _Stored) -> None:
        """Write an event to the disk before it is acknowledged."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps(_to_object(stored), ensure_ascii=False, indent=2) + "\n"
        write_durably(file, text)


def _name_of(event: Event) -> str:
    """Return the name of the file of an event.

    The name is the event's id, or a digest of the event if the id is empty or too long, which
    happens only if the publisher was not Statehouse. The packages of all languages compute the same
    name.
    """
    name = quote(event.id, safe="-_.!~*'()")
    if not name or len(name) > _MAX_NAME_LENGTH:
        fields = (event.id, event.type, event.subject, str(event.revision), event.json)
        content = "\0".join(fields)
        name = f"sha256-{hashlib.sha256(content.encode()).hexdigest()}"
    return name + _EXTENSION


def _to_object(stored: _Stored) -> dict[str, object]:
    event = stored.event
    content = {
        "id": event.id,
        "type": event.type,
        "organizationId": event.organization_id,
        "source": event.source,
        "subject": event.subject,
        "revision": event.revision,
        "time": format_event_time(event.time),
        "traceparent": event.traceparent,
        "auth": {"type": event.auth.type, "id": event.auth.id} if event.auth else None,
        "json": event.json,
        "isListed": event.is_listed or None,
    }
    return {
        "event": {name: value for name, value in content.items() if value is not None},
        "consumer": stored.consumer,
        "failures": stored.failures,
        "error": stored.error,
    }


def _read(file: Path) -> _Stored:
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    event = content["event"]
    auth = event.get("auth")
    return _Stored(
        Event(
            id=event["id"],
            type=event["type"],
            organization_id=event.get("organizationId"),
            source=event["source"],
            subject=event["subject"],
            revision=event["revision"],
            time=datetime.fromisoformat(event["time"]),
            traceparent=event.get("traceparent"),
            auth=AuthContext(type=auth["type"], id=auth["id"]) if auth else None,
            json=event["json"],
            is_listed=event.get("isListed", False),
        ),
        content["consumer"],
        content["failures"],
        content["error"],
    )


def _compare(one: _Stored, other: _Stored) -> int:
    """Order the events of one object by revision, and those of different objects by time."""
    if one.event.subject == other.event.subject:
        return one.event.revision - other.event.revision
    return (one.event.time > other.event.time) - (one.event.time < other.event.time)


_order = cmp_to_key(_compare)


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_MAX_ERROR_LENGTH]
