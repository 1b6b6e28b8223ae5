import { STREAM } from "@statehouse/events";
import { waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { expectStatus } from "../stack/state.ts";
import { openBus } from "./bus.ts";
import { eventually } from "./fixture.ts";
import { newLockedWorkspace, succession, write } from "./steps.ts";
import { useFaultFixture } from "./use-fixture.ts";

const fixture = useFaultFixture(() => ({ settings: { COMPARISON_INTERVAL: "1" } }));

test.each([
  ["purged", "purge"],
  ["deleted", "delete"],
] as const)(
  "projections are repaired after the stream was %s before an event was received",
  async (_, act) => {
    const { stack, owner, rows } = fixture();
    await using bus = await waitFor(() => openBus(stack.nats));
    const id = await newLockedWorkspace(fixture());
    const [first, second] = succession(2);
    if (!first || !second) throw new Error("unreachable");
    // The write is repeated, because services that have just started may still be connecting.
    await eventually(201, () => write(fixture(), id, first));
    const nothing = (sql: string) => async () => (await rows("state", sql)).length === 0;
    await waitFor(nothing("select from state_versions where not resources_processed"));
    await waitFor(nothing("select from outbox"));
    await bus.quiet();
    await stack.processes.workspaces.kill();
    // Simulates a change whose event was published, and was lost with the stream.
    const changed = await rows(
      "state",
      `update workspace_states set resource_count = 7, revision = revision + 1
       where workspace_id = $1 returning 1`,
      [id],
    );
    expect(changed).toHaveLength(1);
    await bus.manager.streams[act](STREAM);
    await stack.processes.workspaces.start();
    await waitFor(
      async () => {
        const { body } = await expectStatus(200, owner.api.get(`/workspaces/${id}`));
        return body.data.attributes["resource-count"] === 7;
      },
      { what: "the projection to be repaired" },
    );
    // The bus works again, so later events are received.
    await eventually(201, () => write(fixture(), id, second));
    const current = (await owner.api.get(`/workspaces/${id}/current-state-version`)).body.data.id;
    await waitFor(
      async () => {
        const { body } = await owner.api.get(`/workspaces/${id}`);
        return body.data.relationships["current-state-version"].data?.id === current;
      },
      { what: "the projection to follow" },
    );
  },
);
