"""Receives events through a durable consumer."""

import asyncio
import contextlib
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import nats.errors
import nats.js.errors
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

from .client import RETRY_DELAY, Client, ClientClosedError
from .event import (
    MAIL_SUBJECTS,
    Event,
    EventFunction,
    Handler,
    by_type,
    event_from,
    reaches,
    stream_of,
)
from .snapshot import Snapshot, Snapshots

CONSUMER_NOT_FOUND = 10014
DEFAULT_MAX_FAILURES = 8
ACK_WAIT = 15
"""Seconds after which an event of a killed replica is delivered to another replica."""
STILL_WORKING_EVERY = 5
MAX_CAUSES = 10
"""The maximum number of different errors that are logged while a subscription is lost."""
POLL = 5
"""Seconds that a request for the next event waits on the server."""


@dataclass(frozen=True, kw_only=True)
class FailedEvent:
    """An event that has failed at least ``max_failures`` times."""

    event: Event
    consumer: str
    failures: int
    error: Exception


DeadLetter = Callable[[FailedEvent], Awaitable[None]]


async def subscribe(
    client: Client,
    *,
    durable: str,
    filter_subject: str,
    handlers: Iterable[Handler] = (),
    dead_letter: DeadLetter,
    otherwise: EventFunction | None = None,
    is_transient: Callable[[Exception], bool] = lambda _: False,
    max_failures: int = DEFAULT_MAX_FAILURES,
    from_now: bool = False,
    snapshot: Snapshot | None = None,
    stop: asyncio.Event | None = None,
    logger: logging.Logger | None = None,
) -> None:
    """Receive events one at a time until ``stop`` is set; then finish the current event and return.

    Each event is received at least once, and events of one object in order unless one of them
    failed. While NATS is unavailable or Statehouse has not created the stream, the function waits.
    Raises ValueError if the subscription is invalid, and ClientClosedError if the client is closed
    before ``stop`` is set.

    ``durable`` is the name of the durable consumer: replicas with the same name share the events.
    ``filter_subject`` selects the subjects to receive, with the wildcards of NATS; with a domain it
    must be the granted filter. ``otherwise`` processes events of types without a handler; without
    it they are acknowledged. ``dead_letter`` stores an event that failed ``max_failures`` times; if
    storing fails too, the event is retried later. Errors for which ``is_transient`` returns true
    never lead to a dead letter. ``from_now`` makes a new consumer begin at the present; it has no
    effect with a domain. ``snapshot`` is how the subscriber reads all existing objects; without it,
    the subscriber receives only the events that the stream contains.
    """
    if not re.fullmatch(r"[A-Za-z0-9_-]+", durable):
        raise ValueError(
            f"the durable name {durable!r} is invalid; letters, digits, - and _ are allowed"
        )
    known = by_type(handlers)
    excluded = sorted(each for each in known if not reaches(filter_subject, each))
    if excluded:
        raise ValueError(
            f"the filter {filter_subject} excludes the handled events {', '.join(excluded)}"
        )
    if snapshot and from_now:
        raise ValueError("a subscription with snapshots begins with the oldest event, not now")
    subscription = _Subscription(
        client=client,
        durable=durable,
        filter_subject=filter_subject,
        from_now=from_now,
        handlers=known,
        otherwise=otherwise,
        dead_letter=dead_letter,
        is_transient=is_transient,
        max_failures=max_failures,
        snapshot=snapshot,
        stop=stop or asyncio.Event(),
        logger=logger or logging.getLogger("statehouse_events"),
    )
    await subscription.run()


@dataclass(kw_only=True)
class _Subscription:
    client: Client
    durable: str
    filter_subject: str
    from_now: bool
    handlers: dict[str, Handler]
    otherwise: EventFunction | None
    dead_letter: DeadLetter
    is_transient: Callable[[Exception], bool]
    max_failures: int
    snapshot: Snapshot | None
    stop: asyncio.Event
    logger: logging.Logger
    causes: set[str] = field(default_factory=set)
    """The errors that were logged since the subscription was lost."""
    snapshots: Snapshots | None = None

    def __post_init__(self) -> None:
        if self.snapshot:
            self.snapshots = Snapshots(
                self.snapshot,
                client=self.client,
                filter_subject=self.filter_subject,
                handle=self._handle_listed,
                logger=self.logger,
                about=self._about(),
            )

    async def run(self) -> None:
        stopping = asyncio.create_task(self.stop.wait())
        try:
            while not self.stop.is_set():
                try:
                    await self._receive(stopping)
                except ClientClosedError:
                    if not self.stop.is_set():
                        raise
                except Exception as error:  # noqa: BLE001 - every other failure is logged and retried
                    self._lost(error)
                    await asyncio.wait([stopping], timeout=RETRY_DELAY)
        finally:
            stopping.cancel()
        await self.client.flush()

    def _lost(self, error: Exception) -> None:
        refused = self.client.refusal()
        text = f"{refused} ({_describe(error)})" if refused else _describe(error)
        # The first error can be that the connection was closed, and a later one the reason for it.
        if text not in self.causes and len(self.causes) < MAX_CAUSES and not self.stop.is_set():
            self.logger.warning("event subscription lost: %s", text, extra=self._about())
            self.causes.add(text)

    async def _receive(self, stopping: "asyncio.Task[bool]") -> None:
        if self.snapshots:
            if await _unless(stopping, self.client.connect()) is None:
                return
            await self.snapshots.take()
        opened = await _unless(stopping, self._open())
        if opened is None:
            return
        stream, messages = opened
        # This task ends if the subscription must be opened again.
        comparing = asyncio.create_task(self._compare_regularly(stream))
        ending = asyncio.create_task(_first(stopping, comparing))
        try:
            if self.causes:
                self.logger.info("event subscription resumed", extra=self._about())
                self.causes.clear()
            while not (self.stop.is_set() or ending.done()):
                # No prefetch: if a process is killed, only the event that it was processing is
                # delayed.
                try:
                    fetched = await _unless(ending, messages.fetch(1, timeout=POLL))
                except TimeoutError:
                    # A deleted consumer causes the same timeout, but then this call raises.
                    await _unless(ending, stream.consumer_info(self._stream(), self.durable))
                    continue
                for message in fetched or ():
                    await self._process(message)
        finally:
            ending.cancel()
            comparing.cancel()
            # The next snapshot must not begin before the comparison has ended.
            await asyncio.wait([ending, comparing])
            with contextlib.suppress(nats.errors.Error):
                await messages.unsubscribe()
        if not self.stop.is_set():
            await asyncio.wait([stopping], timeout=RETRY_DELAY)

    async def _compare_regularly(self, stream: JetStreamContext) -> None:
        """Compare the stream with the checkpoint regularly.

        Return if the subscription must be opened again.
        """
        if not self.snapshots:
            await asyncio.Event().wait()
            return

        async def is_caught_up() -> bool:
            info = await stream.consumer_info(self._stream(), self.durable)
            return not info.num_pending and not info.num_ack_pending

        while True:
            try:
                if not await self.snapshots.compare(is_caught_up):
                    return
            except Exception as error:  # noqa: BLE001 - every failure is logged and retried
                text = "stream position not compared: %s"
                self.logger.warning(text, _describe(error), extra=self._about())
                if (
                    isinstance(error, nats.js.errors.NotFoundError)
                    and error.err_code == CONSUMER_NOT_FOUND
                ):
                    return
            await asyncio.sleep(self.snapshots.compare_every)

    async def _handle_listed(self, event: Event) -> None:
        """Handle an event of a snapshot.

        It is retried and stored as a dead letter under the same conditions as an event of the
        stream.
        """
        handle = self._handler_of(event)
        failures = 0
        while handle:
            if self.stop.is_set():
                raise InterruptedError("the subscription was stopped")
            try:
                await handle(event)
                return
            except Exception as error:  # noqa: BLE001 - a handler may raise anything
                failures += 1
                failed = FailedEvent(
                    event=event, consumer=self.durable, failures=failures, error=error
                )
            if self._is_final(failed):
                await self.dead_letter(failed)
                about = self._about() | {"event": event.id}
                text = "event stored as dead letter: %s"
                self.logger.error(text, _describe(failed.error), extra=about)
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.stop.wait(), _delay_after(failures))

    def _stream(self) -> str:
        return stream_of(self.filter_subject)

    async def _open(self) -> tuple[JetStreamContext, JetStreamContext.PullSubscription]:
        """Bind to the durable consumer.

        If the client has no domain, create the consumer if it is missing, and set its filter if it
        is not that of the subscription.
        """
        stream = await self.client.jetstream()
        try:
            info = await stream.consumer_info(self._stream(), self.durable)
        except nats.js.errors.NotFoundError as error:
            if self.client.domain or error.err_code != CONSUMER_NOT_FOUND:
                raise
            info = await stream.add_consumer(
                self._stream(),
                ConsumerConfig(
                    durable_name=self.durable,
                    description=f"events for {self.durable}",
                    filter_subject=self.filter_subject,
                    ack_policy=AckPolicy.EXPLICIT,
                    ack_wait=ACK_WAIT,
                    max_deliver=-1,
                    deliver_policy=DeliverPolicy.NEW if self.from_now else DeliverPolicy.ALL,
                ),
            )
        except (nats.errors.NoRespondersError, nats.js.errors.ServiceUnavailableError) as error:
            raise ConnectionError(
                f"the consumer {self.durable} cannot be reached: this login does not import it, or "
                "NATS has no JetStream"
            ) from error
        if info.config.filter_subject != self.filter_subject and not self.client.domain:
            config = replace(info.config, filter_subject=self.filter_subject, filter_subjects=None)
            info = await stream.add_consumer(self._stream(), config)
        if info.config.filter_subject != self.filter_subject:
            raise ConnectionError(
                f"the consumer {self.durable} has the filter {info.config.filter_subject}; "
                f"this subscription needs the filter {self.filter_subject}"
            )
        messages = await stream.pull_subscribe_bind(self.durable, self._stream())
        return stream, messages

    async def _process(self, message: Msg) -> None:
        metadata = message.metadata
        event = event_from(message.subject, message.headers or {}, message.data, metadata.timestamp)
        handle = self._handler_of(event)
        if handle is None:
            await message.ack()
            return
        async with _still_working(message):
            try:
                await handle(event)
            except Exception as error:  # noqa: BLE001 - a handler may raise anything
                failed = FailedEvent(
                    event=event,
                    consumer=self.durable,
                    failures=metadata.num_delivered,
                    error=error,
                )
                await self._failed(message, failed)
            else:
                await message.ack()

    async def _failed(self, message: Msg, failed: FailedEvent) -> None:
        """Return an event to the stream with a growing delay, or store it as a dead letter."""
        error = failed.error
        about = self._about() | {
            "event": failed.event.id,
            "type": failed.event.type,
            "failures": failed.failures,
        }
        if not self._is_final(failed):
            text = "event processing failed; it is delivered again: %s"
            self.logger.warning(text, _describe(error), extra=about)
        else:
            try:
                await self.dead_letter(_without_secrets(failed))
            except Exception as failure:  # noqa: BLE001 - the event is retried
                text = "dead letter not stored: %s"
                self.logger.warning(text, _describe(failure), extra=about)
            else:
                text = "event stored as dead letter: %s"
                self.logger.error(text, _describe(error), extra=about)
                await message.ack()
                return
        await message.nak(delay=_delay_after(failed.failures))

    def _handler_of(self, event: Event) -> EventFunction | None:
        handler = self.handlers.get(event.type)
        return handler.handle if handler else self.otherwise

    def _is_final(self, failed: FailedEvent) -> bool:
        """Return whether the event becomes a dead letter."""
        return failed.failures >= self.max_failures and not self.is_transient(failed.error)

    def _about(self) -> dict[str, object]:
        return {"consumer": self.durable}


def _delay_after(failures: int) -> float:
    """Return the seconds until the next attempt."""
    return float(min(30.0, 0.1 * 2 ** min(failures, 10)))


async def _first(*tasks: "asyncio.Task[Any]") -> None:
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


T = TypeVar("T")


async def _unless(stopping: "asyncio.Task[Any]", work: Awaitable[T]) -> T | None:
    """Wait for the work; cancel it and return None if the subscription stops first."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait([task, stopping], return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait([task])
    return None if task.cancelled() else task.result()


@contextlib.asynccontextmanager
async def _still_working(message: Msg) -> AsyncIterator[None]:
    async def repeat() -> None:
        while True:
            await asyncio.sleep(STILL_WORKING_EVERY)
            with contextlib.suppress(nats.errors.Error):
                await message.in_progress()

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        task.cancel()


def _without_secrets(failed: FailedEvent) -> FailedEvent:
    """Return an event for the mail sender without its content, which contains a secret."""
    if not failed.event.type.startswith(MAIL_SUBJECTS):
        return failed
    return replace(failed, event=replace(failed.event, json="{}"))


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
