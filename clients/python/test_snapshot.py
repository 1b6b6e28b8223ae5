"""Tests of checkpoint files, and of subscriptions that are refused for their snapshot options."""

import os
import stat
import tempfile
import unittest
from collections.abc import Awaitable, Callable
from pathlib import Path
from unittest.mock import patch

from statehouse_events import (
    Checkpoint,
    CheckpointFile,
    Client,
    DeadLetterFiles,
    Snapshot,
    subscribe,
)


class SnapshotTest(unittest.IsolatedAsyncioTestCase):
    """Uses no Statehouse and no NATS."""

    async def test_a_checkpoint_file_has_what_was_saved_last(self) -> None:
        """Without the file there is no checkpoint."""
        with tempfile.TemporaryDirectory() as folder:
            file = CheckpointFile(Path(folder) / "checkpoint.json")
            self.assertIsNone(await file.load())
            await file.save(Checkpoint("2026-01-02T03:04:05Z", 1))
            await file.save(Checkpoint("2026-01-02T03:04:05Z", 2))
            self.assertEqual(await file.load(), Checkpoint("2026-01-02T03:04:05Z", 2))

    async def test_only_the_owner_can_read_a_checkpoint(self) -> None:
        """The packages of all languages create the file with the same permissions."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "checkpoint.json"
            await CheckpointFile(file).save(Checkpoint("", 1))
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)

    async def test_a_checkpoint_survives_a_power_failure(self) -> None:
        """The file is written to the disk, and then the folder that contains it."""
        synced: list[bool] = []

        def sync(descriptor: int) -> None:
            synced.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))

        with tempfile.TemporaryDirectory() as folder, patch("os.fsync", sync):
            await CheckpointFile(Path(folder) / "checkpoint.json").save(Checkpoint("", 1))
        self.assertEqual(synced, [False, True])

    async def test_a_subscription_with_snapshots_cannot_begin_now(self) -> None:
        """Events between the snapshot and the present would be lost."""

        async def begin() -> Callable[[], Awaitable[None]]:
            raise AssertionError

        with self.assertRaisesRegex(ValueError, "not now"):
            await subscribe(
                Client("nats://127.0.0.1:1", name="test"),
                durable="one",
                filter_subject="statehouse.>",
                dead_letter=DeadLetterFiles("unused").store,
                from_now=True,
                snapshot=Snapshot(checkpoint=CheckpointFile("unused"), begin=begin),
            )
