"""Tests of dead letters as files."""

import os
import tempfile
import unittest
from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

from statehouse_events import DeadLetterFiles, Event, FailedEvent
from statehouse_events.durable_file import write_durably

FAILED = FailedEvent(
    event=Event(
        id="one",
        type="statehouse.workspaces.workspace.locked.v1",
        organization_id="org-1",
        source="urn:statehouse:default/workspaces",
        subject="ws-1",
        revision=1,
        time=datetime(2026, 1, 2, tzinfo=UTC),
        traceparent=None,
        auth=None,
        json="{}",
    ),
    consumer="billing",
    failures=8,
    error=RuntimeError("cannot"),
)


def names_in(folder: Path) -> list[str]:
    """Return the names of the files in a folder."""
    return [file.name for file in folder.iterdir()]


class DeadLetterFilesTest(unittest.IsolatedAsyncioTestCase):
    """Uses a folder that replicas share."""

    async def test_replicas_with_the_same_process_id_can_store_the_same_event(self) -> None:
        """Another replica stores the event while this one writes its draft."""
        sync = os.fsync
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)

            def store_elsewhere(descriptor: int) -> None:
                sync(descriptor)
                with patch("os.fsync", sync):
                    write_durably(folder / "one.json", "{}")

            with patch("os.fsync", store_elsewhere):
                await DeadLetterFiles(folder).store(FAILED)
            self.assertEqual(names_in(folder), ["one.json"])

    async def test_the_draft_of_a_killed_process_is_no_dead_letter(self) -> None:
        """A process that is killed while it writes cannot delete its draft."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with (
                patch("os.fsync", side_effect=OSError("killed")),
                patch("pathlib.Path.unlink"),
                self.assertRaisesRegex(OSError, "killed"),
            ):
                await DeadLetterFiles(folder).store(FAILED)
            self.assertEqual(len(names_in(folder)), 1)
            self.assertEqual(DeadLetterFiles(folder).count(), 0)

    async def test_a_letter_that_cannot_be_written_leaves_no_draft(self) -> None:
        """Storing is retried, and each attempt would leave another draft on a full disk."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with (
                patch("os.fsync", side_effect=OSError("the disk is full")),
                self.assertRaisesRegex(OSError, "full"),
            ):
                await DeadLetterFiles(folder).store(FAILED)
            self.assertEqual(names_in(folder), [])
