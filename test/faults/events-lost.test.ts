import { STREAM } from "@statehouse/events";
import { waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { expectStatus } from "../stack/state.ts";
import { openBus } from "./bus.ts";
import { newLockedWorkspace, one, write } from "./steps.ts";
import { useSite } from "./use-site.ts";

const site = useSite(() => ({ settings: { COMPARISON_INTERVAL: "1" } }));

test.each([
  ["purged", "purge"],
  ["deleted", "delete"],
] as const)(
  "with the stream %s before anybody heard, projections heal by themselves",
  async (_, act) => {
    const { stack, owner, rows } = site();
    await using bus = await waitFor(() => openBus(stack.nats.url));
    const id = await newLockedWorkspace(site());
    await bus.quiet();
    await stack.processes.workspaces.kill();
    // State cannot ask for the lock any more: its own rows say what would have been written.
    await rows(
      "state",
      `update workspace_state set resource_count = 7, revision = revision + 1,
         latest_change_at = now() where workspace_id = $1`,
      [id],
    );
    await bus.manager.streams[act](STREAM);
    await stack.processes.workspaces.start();
    await waitFor(
      async () => {
        const { body } = await expectStatus(200, owner.api.get(`/workspaces/${id}`));
        return body.data.attributes["resource-count"] === 7;
      },
      { timeout: 60_000, what: "the projection to heal" },
    );
    // And the bus works on: what comes afterwards is heard.
    expect((await write(site(), id, one())).status).toBe(201);
    const current = (await owner.api.get(`/workspaces/${id}/current-state-version`)).body.data.id;
    await waitFor(
      async () => {
        const { body } = await owner.api.get(`/workspaces/${id}`);
        return body.data.relationships["current-state-version"].data?.id === current;
      },
      { timeout: 60_000, what: "the projection to follow" },
    );
  },
);
