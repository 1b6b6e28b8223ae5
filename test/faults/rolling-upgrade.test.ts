import { randomUUID } from "node:crypto";
import { AckPolicy, jetstream } from "@nats-io/jetstream";
import { connectNats, STREAM } from "@statehouse/events";
import { waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { expectStatus } from "../stack/state.ts";
import { openBus } from "./bus.ts";
import { eventually } from "./fixture.ts";
import { newLockedWorkspace, newWorkspace, one, write } from "./steps.ts";
import { useFaultFixture } from "./use-fixture.ts";

const fixture = useFaultFixture(() => ({}));

const organizationOf = async (workspaceId: string) => {
  const [row] = await fixture().rows<{ organization: string }>(
    "workspaces",
    "select organization_id as organization from workspaces where id = $1",
    [workspaceId],
  );
  return row?.organization ?? "";
};

test("an event in the outbox of the previous version is published on the subject of its organization", async () => {
  const { stack, rows } = fixture();
  await using bus = await waitFor(() => openBus(stack.nats));
  const workspaceId = await newWorkspace(fixture());
  const organizationId = await organizationOf(workspaceId);
  await stack.processes.workspaces.kill();
  const before = await bus.lastSequence();
  const type = "statehouse.workspaces.workspace.created.v1";
  await rows(
    "workspaces",
    `insert into outbox (event_id, type, subject, revision, message) values ($1, $2, $3, 1, $4)`,
    [
      randomUUID(),
      type,
      workspaceId,
      JSON.stringify({ workspaceId, organizationId, revision: "1" }),
    ],
  );
  await stack.processes.workspaces.start();
  const subjects = await waitFor(async () => {
    const messages = await bus.since(before);
    return messages.length > 0 && messages.map(({ address }) => address);
  });
  expect(subjects).toContain(`${type}.${organizationId}`);
});

test("a consumer of the previous version is continued, and events on the previous subjects are received", async () => {
  const { stack, owner, rows } = fixture();
  await using bus = await waitFor(() => openBus(stack.nats));
  const id = await newLockedWorkspace(fixture());
  await eventually(201, () => write(fixture(), id, one()));
  // An extraction that ends later would replace the resource count that this test sets.
  const awaited = "select from state_versions where extraction_due_at is not null";
  await waitFor(async () => (await rows("state", awaited)).length === 0);
  await waitFor(async () => (await rows("state", "select from outbox")).length === 0);
  await bus.quiet();
  await stack.processes.workspaces.kill();
  const durable = "workspaces-workspace-state";
  const type = "statehouse.state.workspace-state.changed.v1";
  await bus.manager.consumers.delete(STREAM, durable);
  await bus.manager.consumers.add(STREAM, {
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    filter_subjects: [type, "statehouse.state.state-version.finalized.v1"],
  });
  await rows(
    "state",
    `update workspace_states set resource_count = 7, revision = revision + 1
     where workspace_id = $1`,
    [id],
  );
  // Simulates a replica of the previous release, which still publishes on the previous subject.
  await using nats = connectNats({ ...stack.nats, name: "previous" });
  const connection = await nats.connection();
  await jetstream(connection).publish(type, JSON.stringify({ workspaceId: id }));
  await stack.processes.workspaces.start();
  await waitFor(
    async () => {
      const { body } = await expectStatus(200, owner.api.get(`/workspaces/${id}`));
      return body.data.attributes["resource-count"] === 7;
    },
    { what: "the event on the previous subject to be processed" },
  );
  const { config } = await bus.consumer(durable);
  expect(config.filter_subject).toBe("statehouse.state.workspace-state.changed.>");
  expect(config.filter_subjects ?? []).toEqual([]);
});
