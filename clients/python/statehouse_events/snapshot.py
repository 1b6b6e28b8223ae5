"""Decides whether a snapshot of all existing objects is necessary, and takes it."""

import json
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .client import Client
from .durable_file import write_durably
from .event import EventFunction
from .listing import Listing, StreamState


@dataclass(frozen=True)
class Checkpoint:
    """What a subscriber has received: everything up to a position in a stream."""

    created: str
    """The time at which the stream was created. It identifies the stream."""
    position: int
    """Every event up to this sequence number was handled, or is contained in the snapshot."""


class CheckpointStore(Protocol):
    """Stores the checkpoint of a subscriber.

    The checkpoint must be stored beside the subscriber's data: if the data is lost, the checkpoint
    must be lost too, so that the subscriber takes a snapshot.
    """

    async def load(self) -> Checkpoint | None:
        """Return the checkpoint; None if there is none."""

    async def save(self, checkpoint: Checkpoint) -> None:
        """Replace the checkpoint."""


class CheckpointFile:
    """Stores the checkpoint in a file. The packages of all languages use the same file format."""

    def __init__(self, file: str | Path) -> None:
        self._file = Path(file)

    async def load(self) -> Checkpoint | None:
        """Read the file; return None if it does not exist."""
        try:
            content = json.loads(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return Checkpoint(content["created"], content["position"])

    async def save(self, checkpoint: Checkpoint) -> None:
        """Replace the file."""
        content = {"created": checkpoint.created, "position": checkpoint.position}
        write_durably(self._file, json.dumps(content, separators=(",", ":")) + "\n")


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """How a subscriber reads all existing objects, as events.

    The subscriber does so before it receives the first event, and when the stream was lost or has
    deleted events that the subscriber had not received.
    """

    checkpoint: CheckpointStore
    """Stores the subscriber's checkpoint."""
    begin: Callable[[], Awaitable[Callable[[], Awaitable[None]]]]
    """Called before the first event of a snapshot.

    The function that it returns is called after the last event. That function must delete every
    object that the subscriber has stored and that no event since ``begin`` has named.
    """
    compare_every: float = 30
    """The seconds between two comparisons of the stream with the checkpoint."""


class Snapshots:
    """Takes the snapshots of one subscription."""

    def __init__(
        self,
        options: Snapshot,
        *,
        client: Client,
        filter_subject: str,
        handle: EventFunction,
        logger: logging.Logger,
        about: dict[str, object],
    ) -> None:
        self.compare_every = options.compare_every
        self._options = options
        self._listing = Listing(client)
        self._filter_subject = filter_subject
        self._handle = handle
        self._logger = logger
        self._about = about
        self._previous: StreamState | None = None

    async def take(self) -> None:
        """Take a snapshot unless the stream still has every event after the checkpoint."""
        self._previous = None
        # The stream's state is read before the listing, so every change that the listing does not
        # contain has a higher sequence number than stream.last_sequence.
        stream = await self._listing.stream()
        store = self._options.checkpoint
        if _continues(await store.load(), stream):
            return
        self._logger.info("snapshot begins", extra=self._about | {"stream": stream.created})
        complete = await self._options.begin()
        count = 0
        async for event in self._listing.objects(self._filter_subject):
            await self._handle(event)
            count += 1
        await complete()
        await store.save(Checkpoint(stream.created, stream.last_sequence))
        about = self._about | {"stream": stream.created, "events": count}
        self._logger.info("snapshot is complete", extra=about)

    async def compare(self, is_caught_up: Callable[[], Awaitable[bool]]) -> bool:
        """Compare the stream with the checkpoint; return False if a snapshot is necessary.

        If the consumer has received and acknowledged everything, store a checkpoint: the stream's
        last sequence number at the previous comparison.
        """
        stream = await self._listing.stream()
        store = self._options.checkpoint
        known = await store.load()
        if known is None or not _continues(known, stream):
            return False
        caught_up = await is_caught_up()
        previous, self._previous = self._previous, stream
        if (
            caught_up
            and previous
            and previous.created == stream.created
            and previous.last_sequence > known.position
        ):
            await store.save(Checkpoint(stream.created, previous.last_sequence))
        return True


def _continues(checkpoint: Checkpoint | None, stream: StreamState) -> bool:
    """Return whether the stream still has every event after the checkpoint."""
    return (
        checkpoint is not None
        and checkpoint.created == stream.created
        and stream.first_sequence <= checkpoint.position + 1
    )
