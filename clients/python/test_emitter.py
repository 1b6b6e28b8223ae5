"""How a subscriber tests its handlers."""

import unittest

from statehouse_events import Emitter, Event, on
from statehouse_events.messages import UserDeleted, WorkspaceDeleted, WorkspaceLocked


class EmitterTest(unittest.IsolatedAsyncioTestCase):
    """Calls handlers without Statehouse and NATS."""

    async def test_a_handler_that_applies_by_revision_ignores_a_late_event(self) -> None:
        """A repeated delivery after a newer event changes nothing."""
        locks: dict[str, tuple[int, str]] = {}

        async def locked(message: WorkspaceLocked, event: Event) -> None:
            revision, _ = locks.get(message.workspace_id, (0, ""))
            if event.revision > revision:
                locks[message.workspace_id] = (event.revision, message.holder_id)

        emitter = Emitter([on(WorkspaceLocked, locked)])
        first = await emitter.emit(WorkspaceLocked(workspace_id="ws-1", holder_id="user-1"))
        await emitter.emit(WorkspaceLocked(workspace_id="ws-1", holder_id="user-2"))
        await emitter.deliver(first)
        self.assertEqual(locks, {"ws-1": (2, "user-2")})

    async def test_an_event_has_the_form_in_which_statehouse_publishes_it(self) -> None:
        """The message has the event's revision; a failure and a missing handler are errors."""

        async def deleted(message: WorkspaceDeleted, event: Event) -> None:
            self.assertEqual(message.revision, event.revision)
            self.assertEqual((event.subject, event.organization_id), ("ws-1", "org-1"))
            self.assertEqual(
                event.json, '{"workspaceId":"ws-1","organizationId":"org-1","revision":"7"}'
            )
            raise RuntimeError("cannot")

        emitter = Emitter([on(WorkspaceDeleted, deleted)])
        message = WorkspaceDeleted(workspace_id="ws-1", organization_id="org-1")
        with self.assertRaisesRegex(RuntimeError, "cannot"):
            await emitter.emit(message, revision=7)
        with self.assertRaisesRegex(LookupError, "no handler"):
            await emitter.emit(UserDeleted(user_id="user-1"))
