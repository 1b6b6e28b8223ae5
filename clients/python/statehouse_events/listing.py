"""Reads all existing objects, as events, by requests over NATS."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import nats.errors

from .client import Client
from .event import Event

SUBJECT = "statehouse-listing"
FIRST_PAGE = {"service": "access", "cursor": ""}
TIMEOUT = 15


@dataclass(frozen=True)
class StreamState:
    """The identity of the event stream and the range of sequence numbers that it contains."""

    created: str
    """Differs if the stream was deleted and created again."""
    first_sequence: int
    last_sequence: int


class Listing:
    """The client of the listing for subscribers.

    Raises ConnectionError if a response is an error.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    async def stream(self) -> StreamState:
        """Return the state of the event stream."""
        state = await self._request("stream", {})
        return StreamState(state["created"], state["firstSequence"], state["lastSequence"])

    async def objects(self, filter_subject: str) -> AsyncIterator[Event]:
        """Return the events of all objects whose subjects match the filter, page by page."""
        position: dict[str, str] | None = FIRST_PAGE
        while position:
            request = {"filter": filter_subject, "cursor": position["cursor"]}
            page = await self._request(position["service"], request)
            for listed in page["events"]:
                yield _event_of(listed)
            position = page.get("next")

    async def _request(self, name: str, body: dict[str, str]) -> dict[str, Any]:
        connection = await self._client.connect()
        subject = f"{SUBJECT}.{name}"
        try:
            reply = await connection.request(subject, json.dumps(body).encode(), timeout=TIMEOUT)
        except nats.errors.NoRespondersError as error:
            raise ConnectionError(
                f"the listing cannot be reached at {subject}: this login does not import it, or "
                "Statehouse does not run"
            ) from error
        response: dict[str, Any] = json.loads(reply.data)
        if "error" in response:
            raise ConnectionError(f"{subject} responded: {response['error']}")
        return response


def _event_of(listed: dict[str, Any]) -> Event:
    """Return an event that is in the JSON format of CloudEvents."""
    return Event(
        id=listed["id"],
        type=listed["type"],
        organization_id=listed.get("organization"),
        source=listed["source"],
        subject=listed["subject"],
        revision=int(listed["sequence"]),
        time=datetime.fromisoformat(listed["time"]).astimezone(UTC),
        traceparent=None,
        auth=None,
        json=json.dumps(listed["data"], ensure_ascii=False, separators=(",", ":")),
        is_listed=True,
    )
