"""Receives the events of Statehouse from NATS JetStream.

``subscribe`` receives events through a durable consumer, one at a time, calls a handler for each,
and acknowledges it when the handler returns. An event whose handler raises is delivered again with
growing delays; after ``max_failures`` failures it becomes a dead letter, so that it does not delay
later events. The messages of all events are in ``statehouse_events.messages``. With a ``Snapshot``
the subscriber reads all existing objects, as events, before it receives the first event.
"""

from .client import (
    Client,
    ClientClosedError,
    CredentialsFile,
    Login,
    NkeySeed,
    Renewable,
    Tls,
    Token,
    UserPassword,
)
from .dead_letter_files import DeadLetterFiles, Replay
from .emitter import Emitter, samples
from .event import AuthContext, Event, EventFunction, Handler, decode, on
from .message import Message
from .snapshot import Checkpoint, CheckpointFile, CheckpointStore, Snapshot
from .subscription import DeadLetter, FailedEvent, subscribe

__all__ = [
    "AuthContext",
    "Checkpoint",
    "CheckpointFile",
    "CheckpointStore",
    "Client",
    "ClientClosedError",
    "CredentialsFile",
    "DeadLetter",
    "DeadLetterFiles",
    "Emitter",
    "Event",
    "EventFunction",
    "FailedEvent",
    "Handler",
    "Login",
    "Message",
    "NkeySeed",
    "Renewable",
    "Replay",
    "Snapshot",
    "Tls",
    "Token",
    "UserPassword",
    "decode",
    "on",
    "samples",
    "subscribe",
]
