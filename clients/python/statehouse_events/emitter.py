"""Events for the tests of a subscriber, without Statehouse and NATS."""

import json
import uuid
from collections.abc import Iterable
from dataclasses import fields, replace
from datetime import UTC, datetime
from importlib.resources import files

from .event import AuthContext, Event, Handler, by_type, event_from
from .message import Message


class Emitter:
    """Calls handlers with events as Statehouse publishes them."""

    def __init__(self, handlers: Iterable[Handler]) -> None:
        self._handlers = by_type(handlers)
        self._last = 0

    async def emit(
        self,
        message: Message,
        *,
        revision: int | None = None,
        subject: str | None = None,
        time: datetime | None = None,
        auth: AuthContext | None = None,
    ) -> Event:
        """Call the handler for the message's type and return the event.

        The message gets the revision of the event, which is by default higher than that of every
        earlier event. ``subject`` is by default the first field of the message.
        """
        revision = revision or self._last + 1
        self._last = max(self._last, revision)
        names = [each.name for each in fields(message)]
        if "revision" in names:
            message = replace(message, revision=revision)  # type: ignore[call-arg]
        event = Event(
            id=str(uuid.uuid4()),
            type=message.TYPE,
            organization_id=getattr(message, "organization_id", "") or None,
            source=f"urn:statehouse:default/{message.TYPE.split('.')[1]}",
            subject=subject or str(getattr(message, names[0])),
            revision=revision,
            time=time or datetime.now(UTC),
            traceparent=None,
            auth=auth or AuthContext(type="user", id="user-emitted"),
            json=message.to_json(),
        )
        await self.deliver(event)
        return event

    async def deliver(self, event: Event) -> None:
        """Call the handler again with an earlier event: a repeated or late delivery."""
        handler = self._handlers.get(event.type)
        if handler is None:
            raise LookupError(f"there is no handler for {event.type}")
        await handler.handle(event)

    async def emit_samples(self) -> None:
        """Call each handler with the sample of its event in the catalog."""
        for event in samples():
            if event.type in self._handlers:
                await self.deliver(event)


def samples() -> list[Event]:
    """Return the sample of every event in the catalog, ordered by type."""
    catalog = json.loads(files(__package__).joinpath("samples.json").read_text(encoding="utf-8"))
    return [
        event_from(
            sample["subject"],
            sample["headers"],
            json.dumps(sample["payload"]).encode(),
            datetime.fromtimestamp(0, UTC),
        )
        for _, sample in sorted(catalog.items())
    ]
