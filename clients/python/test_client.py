"""Tests of a client that is closed."""

import asyncio
import unittest

from statehouse_events import Client

INFO = b'INFO {"server_id": "test", "version": "2.15.0", "max_payload": 1048576}\r\n'


class ClientTest(unittest.IsolatedAsyncioTestCase):
    """Uses a server that only answers the handshake of NATS."""

    async def test_a_closed_client_does_not_connect(self) -> None:
        """A connection that is being opened when the client is closed fails too."""
        ended = asyncio.Event()

        async def welcome(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(INFO)
            await reader.readuntil(b"PING\r\n")
            await client.close()
            writer.write(b"PONG\r\n")
            await reader.read()
            writer.close()
            ended.set()

        server = await asyncio.start_server(welcome, "127.0.0.1", 0)
        async with server:
            host, port = server.sockets[0].getsockname()
            client = Client(f"nats://{host}:{port}", name="test")
            with self.assertRaisesRegex(ConnectionError, "closed"):
                await client.connect()
            await asyncio.wait_for(ended.wait(), 5)
            with self.assertRaisesRegex(ConnectionError, "closed"):
                await client.connect()
