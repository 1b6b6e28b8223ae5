"""The connection to NATS."""

import asyncio
import contextlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import nats.errors
from nats.aio.client import Client as NatsClient
from nats.js import JetStreamContext

Renewable = str | Callable[[], str]
"""A value, or a function that is called for every connection and returns the current value."""


@dataclass(frozen=True)
class UserPassword:
    """Authenticates with a user and a password."""

    user: str
    password: Renewable


@dataclass(frozen=True)
class Token:
    """Authenticates with a token."""

    token: Renewable


@dataclass(frozen=True)
class NkeySeed:
    """Authenticates with the seed of an nkey, ``SU…``."""

    seed: Renewable


@dataclass(frozen=True)
class CredentialsFile:
    """Authenticates with a file with a JWT and a seed, as the NATS tool ``nsc`` writes it."""

    file: str | Path


Login = UserPassword | Token | NkeySeed | CredentialsFile


@dataclass(frozen=True, kw_only=True)
class Tls:
    """Encrypts the connection. A server without TLS is then refused.

    The files are PEM and are read for each connection. Without ``ca_file``, the authorities of the
    machine are trusted.
    """

    ca_file: str | Path | None = None
    cert_file: str | Path | None = None
    key_file: str | Path | None = None

    def context(self) -> ssl.SSLContext:
        """Read the files."""
        context = ssl.create_default_context(cafile=self.ca_file)
        if self.cert_file:
            context.load_cert_chain(self.cert_file, self.key_file)
        return context


def current(value: Renewable) -> str:
    """Return the value that applies now."""
    return (value if isinstance(value, str) else value()).strip()


class _Nats(NatsClient):
    """The client of NATS that reads credentials and certificates again for each connection."""

    def __init__(self, login: Login | None, tls: Tls | None) -> None:
        super().__init__()
        self._login = login
        self._tls = tls

    @property
    def ssl_context(self) -> ssl.SSLContext:
        return (self._tls or Tls()).context()

    def login_options(self) -> dict[str, Any]:
        login = self._login
        if isinstance(login, UserPassword):
            return {"user": login.user, "password": current(login.password)}
        if isinstance(login, Token):
            return {"token": current(login.token)}
        if isinstance(login, NkeySeed):
            return {"nkeys_seed_str": current(login.seed)}
        if isinstance(login, CredentialsFile):
            return {"user_credentials": str(login.file)}
        return {}

    def _connect_command(self) -> bytes:
        # TLS is checked before anything is sent, because the client of NATS continues without TLS
        # if the server has none.
        if self._tls and not self._server_info.get("tls_required"):
            raise nats.errors.SecureConnWantedError
        for name, value in self.login_options().items():
            if name == "nkeys_seed_str":
                self._nkeys_seed_str = value
            else:
                self.options[name] = value
        if isinstance(self._login, NkeySeed | CredentialsFile):
            self._setup_nkeys_connect()
        command: bytes = super()._connect_command()
        return command


class ClientClosedError(ConnectionError):
    """The client was closed, and does not connect again."""

    def __init__(self) -> None:
        super().__init__("the client is closed")


CONNECT_TIMEOUT = 2
RETRY_DELAY = 0.5


class Client:
    """Connects to NATS when it is used, and again when the connection is lost.

    ``url`` is one address, or several separated by commas: ``nats://127.0.0.1:4222``. ``name`` is
    shown to operators. ``tls`` must be set, even to ``Tls()``, if the connection must be encrypted.
    ``domain`` is the JetStream domain through which this login reaches its durable consumer, if
    another account owns the consumer: ``statehouse`` for an account that ``statehouse keys``
    created; it is omitted if the streams are in the login's account. ``inbox_prefix`` is the first
    part of the subjects on which the client receives responses and events.
    """

    def __init__(
        self,
        url: str,
        *,
        name: str,
        login: Login | None = None,
        tls: Tls | None = None,
        domain: str | None = None,
        inbox_prefix: str = "_INBOX",
    ) -> None:
        self.domain = domain
        self._servers = [server.strip() for server in url.split(",")]
        self._name = name
        self._login = login
        self._tls = tls
        self._inbox_prefix = inbox_prefix
        self._connection: _Nats | None = None
        self._connecting = asyncio.Lock()
        self._is_closed = False
        self._refused: Exception | None = None
        self._failure: Exception | None = None

    async def __aenter__(self) -> Self:
        """Return the client, which connects when it is used."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the connection."""
        await self.close()

    async def close(self) -> None:
        """Close the connection. A closed client does not connect again."""
        self._is_closed = True
        if self._connection:
            await self._connection.close()

    async def connect(self) -> NatsClient:
        """Return the open connection, or open one.

        A connection that the server closed because it no longer accepts the login is replaced by
        one with the current credentials. Raises ClientClosedError after the client was closed.
        """
        # Subscriptions that connect at the same time share one connection.
        async with self._connecting:
            return await self._connect()

    async def _connect(self) -> NatsClient:
        self._require_open()
        if self._connection and not self._connection.is_closed:
            return self._connection
        connection = _Nats(self._login, self._tls)
        # Without a timeout, the client of NATS would try forever and raise no error.
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT * len(self._servers)):
                await connection.connect(
                    servers=self._servers,
                    name=self._name,
                    error_cb=self._on_error,
                    connect_timeout=CONNECT_TIMEOUT,
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=1,
                    ping_interval=20,
                    inbox_prefix=self._inbox_prefix,
                    tls=self._tls.context() if self._tls else None,
                    **connection.login_options(),
                )
        except TimeoutError as error:
            with contextlib.suppress(Exception):
                await connection.close()
            raise self._failure or error from None
        if self._is_closed:
            await connection.close()
        self._require_open()
        self._connection = connection
        return connection

    def _require_open(self) -> None:
        if self._is_closed:
            raise ClientClosedError

    async def jetstream(self) -> JetStreamContext:
        """Return the API of JetStream in the domain of the client."""
        options = {"domain": self.domain} if self.domain else {}
        return (await self.connect()).jetstream(timeout=5, **options)

    async def flush(self) -> None:
        """Send the last acknowledgements if the server is available."""
        if self._connection and self._connection.is_connected:
            with contextlib.suppress(nats.errors.Error):
                await self._connection.flush(timeout=2)

    def refusal(self) -> Exception | None:
        """Return the permission that the server refused since the last call, if any."""
        refused, self._refused = self._refused, None
        return refused

    async def _on_error(self, error: Exception) -> None:
        # The server reports a refused permission only here: the request itself gets no response.
        if "permissions violation" in str(error).lower():
            self._refused = error
        self._failure = error
