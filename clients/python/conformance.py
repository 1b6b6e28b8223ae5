"""The driver of this package in the conformance suite.

Reads a scenario as JSON on standard input and prints what it receives as lines of JSON. The suite
compares the packages of all languages.
"""

import asyncio
import json
import logging
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from statehouse_events import (
    CheckpointFile,
    Client,
    DeadLetterFiles,
    Emitter,
    Event,
    Handler,
    Login,
    Message,
    NkeySeed,
    Snapshot,
    Tls,
    UserPassword,
    on,
    subscribe,
)
from statehouse_events.message import format_event_time
from statehouse_events.messages import (
    DataRetentionPolicySet,
    StateVersionProcessed,
    UserCreated,
    WorkspaceAutoDestroyDue,
    WorkspaceCreated,
    WorkspaceDeleted,
    WorkspaceLocked,
    WorkspaceUnlocked,
    WorkspaceUpdated,
)

MESSAGES: list[type[Message]] = [
    WorkspaceCreated,
    WorkspaceUpdated,
    WorkspaceLocked,
    WorkspaceUnlocked,
    WorkspaceDeleted,
    WorkspaceAutoDestroyDue,
    DataRetentionPolicySet,
    StateVersionProcessed,
    UserCreated,
]


class TransientError(Exception):
    """A failure that the event did not cause."""


def print_line(**values: object) -> None:
    """Print one line of JSON."""
    print(json.dumps(values), flush=True)


class LogLines(logging.Handler):
    """Prints log records as lines of JSON."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a log record; the text after the first colon of its message is the error."""
        message, _, error = record.getMessage().partition(": ")
        print_line(
            log=record.levelname.lower().replace("warning", "warn"), message=message, error=error
        )


class Driver:
    """Prints each event, and fails as the scenario says."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.scenario = scenario
        self.stop = asyncio.Event()
        self._failures: dict[str, int] = {}
        self._revisions: dict[str, int] = {}

    async def handle(self, event: Event, message: object) -> None:
        """Process one event."""
        applied = event.revision > self._revisions.get(event.subject, 0)
        failures = self._failures.get(event.id, 0)
        fails = failures < self.scenario.get("fail", {}).get(event.id, 0)
        optional = {
            "organizationId": event.organization_id,
            "traceparent": event.traceparent,
            "auth": event.auth and {"type": event.auth.type, "id": event.auth.id},
            "isListed": event.is_listed,
        }
        print_line(
            handled=event.id,
            type=event.type,
            source=event.source,
            subject=event.subject,
            revision=str(event.revision),
            time=format_event_time(event.time),
            applied=applied,
            failed=fails,
            message=message,
            **{name: value for name, value in optional.items() if value},
        )
        if fails:
            self._failures[event.id] = failures + 1
            if event.id in self.scenario.get("transient", []):
                raise TransientError("transient")
            raise RuntimeError("cannot")
        if applied:
            self._revisions[event.subject] = event.revision
        if event.id == self.scenario.get("hangOn"):
            await asyncio.Event().wait()
        if event.id == self.scenario.get("stopOn"):
            self.stop.set()
            await asyncio.sleep(0.2)
            print_line(finished=event.id)

    def handlers(self) -> list[Handler]:
        """Return the handlers of the scenario."""

        async def handle(message: Message, event: Event) -> None:
            await self.handle(event, json.loads(message.to_json()))

        handled = self.scenario.get("handled", [])
        return [on(each, handle) for each in MESSAGES if each.TYPE in handled]

    async def otherwise(self, event: Event) -> None:
        """Process an event of a type without a handler."""
        await self.handle(event, json.loads(event.json))

    def snapshot(self) -> Snapshot | None:
        """Return the options of snapshots in the scenario."""
        given = self.scenario.get("snapshot")
        if given is None:
            return None

        async def complete() -> None:
            print_line(snapshot="complete")

        async def begin() -> Callable[[], Awaitable[None]]:
            print_line(snapshot="begins")
            return complete

        return Snapshot(
            checkpoint=CheckpointFile(given["checkpoint"]),
            begin=begin,
            compare_every=0.1,
        )

    def login(self) -> Login | None:
        """Return the login of the scenario."""
        login = self.scenario.get("login") or {}
        if "nkeySeed" in login:
            return NkeySeed(login["nkeySeed"])
        return UserPassword(login["user"], login["password"]) if login else None


async def run(scenario: dict[str, Any]) -> None:
    """Run a scenario."""
    driver = Driver(scenario)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, driver.stop.set)
    otherwise = driver.otherwise if scenario.get("otherwise") else None
    files = DeadLetterFiles(scenario.get("deadLetters", ""))
    if scenario.get("mode") == "replay":
        result = await files.replay(driver.handlers(), otherwise)
        print_line(replayed=result.replayed, failed=result.failed, left=files.count())
        return
    if scenario.get("mode") == "samples":
        await Emitter(driver.handlers()).emit_samples()
        return
    logger = logging.Logger("conformance")
    logger.addHandler(LogLines())
    tls = scenario.get("tls") or {}
    client = Client(
        scenario["url"],
        name="conformance",
        login=driver.login(),
        tls=Tls(
            ca_file=tls.get("caFile"), cert_file=tls.get("certFile"), key_file=tls.get("keyFile")
        )
        if tls
        else None,
        domain=scenario.get("domain"),
        inbox_prefix=scenario.get("inboxPrefix", "_INBOX"),
    )
    async with client:
        await subscribe(
            client,
            durable=scenario["durable"],
            filter_subject=scenario["filter"],
            handlers=driver.handlers(),
            otherwise=otherwise,
            dead_letter=files.store,
            is_transient=lambda error: isinstance(error, TransientError),
            max_failures=scenario.get("maxFailures", 8),
            snapshot=driver.snapshot(),
            stop=driver.stop,
            logger=logger,
        )


try:
    asyncio.run(run(json.loads(sys.stdin.readline())))
except ValueError as refusal:
    print_line(refused=str(refusal))
    sys.exit(1)
print_line(ended=True)
