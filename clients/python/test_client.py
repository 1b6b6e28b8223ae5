"""Tests of the connection of a client, and of a client that is closed."""

import asyncio
import unittest
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from statehouse_events import Client, ClientClosedError, DeadLetterFiles, subscribe

INFO = b'INFO {"server_id": "test", "version": "2.15.0", "max_payload": 1048576}\r\n'


@asynccontextmanager
async def nats_server(
    on_connect: Callable[[], Awaitable[None]],
) -> AsyncIterator[tuple[str, asyncio.Event]]:
    """Run a server that only answers the handshake of NATS, after it has awaited ``on_connect``.

    Yields its URL, and an event that is set when a client has disconnected.
    """
    ended = asyncio.Event()

    async def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(INFO)
        await reader.readuntil(b"PING\r\n")
        await on_connect()
        writer.write(b"PONG\r\n")
        await reader.read()
        writer.close()
        ended.set()

    server = await asyncio.start_server(welcome, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        yield f"nats://{host}:{port}", ended


class ClientTest(unittest.IsolatedAsyncioTestCase):
    """Uses a server that only answers the handshake of NATS."""

    async def test_a_closed_client_does_not_connect(self) -> None:
        """A connection that is being opened when the client is closed fails too."""
        async with nats_server(lambda: client.close()) as (url, ended):
            client = Client(url, name="test")
            with self.assertRaises(ClientClosedError):
                await client.connect()
            await asyncio.wait_for(ended.wait(), 5)
            with self.assertRaises(ClientClosedError):
                await client.connect()

    async def test_users_that_connect_at_the_same_time_share_a_connection(self) -> None:
        """Closing the client therefore closes every connection."""
        opened = 0

        async def count() -> None:
            nonlocal opened
            opened += 1

        async with nats_server(count) as (url, _):
            async with Client(url, name="test") as client:
                one, other = await asyncio.gather(client.connect(), client.connect())
            self.assertTrue(one.is_closed)
            self.assertIs(one, other)
            self.assertEqual(opened, 1)

    async def test_a_subscription_ends_when_its_client_is_closed(self) -> None:
        """The error is raised, because a closed client does not connect again."""

        async def subscribe_until(stop: asyncio.Event) -> None:
            await subscribe(
                client,
                durable="one",
                filter_subject="statehouse.>",
                dead_letter=DeadLetterFiles("unused").store,
                stop=stop,
            )

        async with nats_server(lambda: client.close()) as (url, _):
            client = Client(url, name="test")
            with self.assertRaises(ClientClosedError):
                await asyncio.wait_for(subscribe_until(asyncio.Event()), 5)
        stopped = asyncio.Event()
        stopped.set()
        await subscribe_until(stopped)
