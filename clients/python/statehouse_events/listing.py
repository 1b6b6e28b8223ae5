"""Reads all existing objects, as events, over HTTP."""

import asyncio
import base64
import json
import secrets
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlencode

import nkeys  # type: ignore[import-untyped]

from .client import Renewable, current
from .event import Event

PAGE = 1000
TIMEOUT = 60
MAX_QUOTED = 200


@dataclass(frozen=True)
class StreamState:
    """The identity of the event stream and the range of sequence numbers that it contains."""

    created: str
    """Differs if the stream was deleted and created again."""
    first_sequence: int
    last_sequence: int


class Listing:
    """The client of the listing for subscribers.

    Raises ConnectionError if the status of a response is an error.
    """

    def __init__(self, url: str, nkey_seed: Renewable, tls: ssl.SSLContext | None) -> None:
        self._origin = url.rstrip("/")
        self._nkey_seed = nkey_seed
        self._tls = tls

    async def stream(self) -> StreamState:
        """Return the state of the event stream."""
        content, _ = await self._get("/events/v1/stream")
        state = json.loads(content)
        return StreamState(state["created"], state["firstSequence"], state["lastSequence"])

    async def objects(self, filter_subject: str) -> AsyncIterator[Event]:
        """Return the events of all objects whose subjects match the filter, page by page."""
        query = {"filter": filter_subject, "limit": str(PAGE)}
        while True:
            content, cursor = await self._get(f"/events/v1/objects?{urlencode(query)}")
            for line in content.split("\n"):
                if line:
                    yield _event_of(line)
            if cursor is None:
                return
            query["cursor"] = cursor

    async def _get(self, target: str) -> tuple[str, str | None]:
        return await asyncio.to_thread(self._get_blocking, target)

    def _get_blocking(self, target: str) -> tuple[str, str | None]:
        url = self._origin + target
        headers = {"Authorization": f"Nkey {self._credential(target)}"}
        request = urllib.request.Request(url, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT, context=self._tls) as response:
                return response.read().decode(), response.headers.get("Statehouse-Cursor")
        except urllib.error.HTTPError as error:
            with error:
                text = error.read().decode(errors="replace")[:MAX_QUOTED]
            raise ConnectionError(f"{url} responded with {error.code}: {text}") from None

    def _credential(self, target: str) -> str:
        """Return a credential for one request, signed with the nkey. It can be used only once."""
        pair = nkeys.from_seed(current(self._nkey_seed).encode())
        now = str(int(time.time()))
        nonce = secrets.token_urlsafe(16)
        text = "\n".join(["statehouse-listing-v1", self._origin, target, now, nonce])
        signature = base64.urlsafe_b64encode(pair.sign(text.encode())).decode().rstrip("=")
        return ".".join([pair.public_key.decode(), now, nonce, signature])


def _event_of(text: str) -> Event:
    line = json.loads(text)
    return Event(
        id=line["id"],
        type=line["type"],
        organization_id=line.get("organization"),
        source=line["source"],
        subject=line["subject"],
        revision=int(line["sequence"]),
        time=datetime.fromisoformat(line["time"]).astimezone(UTC),
        traceparent=None,
        auth=None,
        json=json.dumps(line["data"], ensure_ascii=False, separators=(",", ":")),
        is_listed=True,
    )
