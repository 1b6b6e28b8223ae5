import { describe, expect, test } from "vitest";
import { upload } from "../stack/http.ts";
import { announcement, inlineState, stateFile } from "../stack/state.ts";
import { newLockedWorkspace, newWorkspace, useWorld } from "./fixture.ts";

const world = useWorld({ settings: { EDITION: "hosted", REMOTE_OPERATIONS: "true" } });

test("the hosted edition says so, and has its own attributes and headers", async () => {
  const { owner, nobody, organization } = world();
  expect((await nobody.get("/ping")).headers.get("tfp-appname")).toBe("HCP Terraform");
  const workspace = await newWorkspace(world());
  expect(workspace.attributes["assessments-enabled"]).toBe(false);
  const entitlements = await owner.api.get(`/organizations/${organization}/entitlement-set`);
  expect(entitlements.body.data.attributes.operations).toBe(true);
  const retention = `/workspaces/${workspace.id}/relationships/data-retention-policy`;
  for (const path of [retention, "/admin/general-settings"]) {
    const answer = await owner.api.get(path);
    expect(answer.status).toBe(404);
    expect(answer.body.errors[0].detail).toBe("There is nothing at this address.");
  }
  const { id } = await newLockedWorkspace(world());
  const created = await owner.api.post(
    `/workspaces/${id}/state-versions`,
    inlineState(stateFile()),
  );
  expect(Number(created.headers.get("x-terraform-snapshot-interval"))).toBeGreaterThan(0);
});

describe("in the hosted edition a state that is uploaded by URL", () => {
  const current = (id: string) => world().owner.api.get(`/workspaces/${id}/current-state-version`);

  async function uploaded(id: string, serial: number, lineage: string) {
    const state = stateFile({ serial, lineage });
    const { body } = await world().owner.api.post(
      `/workspaces/${id}/state-versions`,
      announcement(state),
    );
    const put = await upload(body.data.attributes["hosted-state-upload-url"], state.bytes);
    expect(put.status).toBe(200);
    return body.data.id as string;
  }

  test.each(["unlock", "force-unlock"])(
    "is intermediate until %s, which promotes the newest",
    async (action) => {
      const { owner } = world();
      const { id } = await newLockedWorkspace(world());
      const first = stateFile();
      await owner.api.post(`/workspaces/${id}/state-versions`, inlineState(first));
      await uploaded(id, 2, first.lineage);
      const newest = await uploaded(id, 3, first.lineage);
      const shown = await owner.api.get(`/state-versions/${newest}`);
      expect(shown.body.data.attributes).toMatchObject({ status: "finalized", intermediate: true });
      expect((await current(id)).body.data.attributes.serial).toBe(1);
      const unlocked = await owner.api.post(`/workspaces/${id}/actions/${action}`);
      expect(unlocked.status).toBe(200);
      expect((await current(id)).body.data).toMatchObject({
        id: newest,
        attributes: { intermediate: false },
      });
    },
  );

  test("does not hide a pending one from unlock; force-unlock discards it and keeps the last good", async () => {
    const { owner } = world();
    const { id } = await newLockedWorkspace(world());
    const { lineage } = stateFile();
    const good = await uploaded(id, 1, lineage);
    await owner.api.post(
      `/workspaces/${id}/state-versions`,
      announcement(stateFile({ serial: 2, lineage })),
    );
    expect((await owner.api.post(`/workspaces/${id}/actions/unlock`)).status).toBe(503);
    expect((await owner.api.post(`/workspaces/${id}/actions/force-unlock`)).status).toBe(200);
    expect((await current(id)).body.data.id).toBe(good);
  });
});
