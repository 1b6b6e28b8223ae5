import {
  type EditionName,
  edition,
  editionTable,
  editionValues,
  type Feature,
} from "@statehouse/runtime";
import { waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document, upload } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { announcement, expectStatus, inlineState, stateFile, writeState } from "../stack/state.ts";
import { type Fixture, newLockedWorkspace, newUser, newWorkspace, useFixture } from "./fixture.ts";

const worlds: Record<EditionName, () => Fixture> = {
  "self-hosted": useFixture({ settings: { EDITION: "self-hosted", COLLECTION_INTERVAL: "1" } }),
  hosted: useFixture({ settings: { EDITION: "hosted", COLLECTION_INTERVAL: "1" } }),
};
const editionNames = Object.keys(worlds) as EditionName[];

/**
 * Returns whether the edition serves the requested path. For a feature that an edition does not have, the response is
 * the same as for an unknown path.
 */
async function isThere(
  response: Promise<{ status: number; body: { errors?: { detail: string }[] } }>,
) {
  const { status, body } = await response;
  return !(status === 404 && body.errors?.[0]?.detail === "Not found.");
}

/** Creates a state version of the workspace with inline state; returns the id of the version. */
async function writeVersion(
  { owner }: Fixture,
  workspaceId: string,
  serial: number,
  lineage: string,
) {
  const path = `/workspaces/${workspaceId}/state-versions`;
  const created = await expectStatus(
    201,
    owner.api.post(path, inlineState(stateFile({ serial, lineage }))),
  );
  return created.body.data.id as string;
}

const age = ({ stack }: Fixture, workspaceId: string, days: number) =>
  stack.rows(
    "state",
    `update state_versions set created_at = created_at - $2 * interval '1 day'
     where workspace_id = $1`,
    [workspaceId, days],
  );

const retentionPolicy = document("data-retention-policy-delete-olders", {
  "delete-older-than-n-days": 30,
});

/**
 * For each feature, a function that returns whether the feature is visible through HTTP. A new feature needs an entry.
 */
const shows: Record<Feature, (fixture: Fixture) => Promise<boolean>> = {
  async "header.snapshot-interval"(fixture) {
    const { id } = await newLockedWorkspace(fixture);
    const created = await fixture.owner.api.post(
      `/workspaces/${id}/state-versions`,
      inlineState(stateFile()),
    );
    return Number(created.headers.get("x-terraform-snapshot-interval")) > 0;
  },

  async "state-versions.intermediate"(fixture) {
    const { owner } = fixture;
    const { id } = await newLockedWorkspace(fixture);
    const state = stateFile();
    const { body } = await owner.api.post(`/workspaces/${id}/state-versions`, announcement(state));
    await upload(body.data.attributes["hosted-state-upload-url"], state.bytes);
    const shown = await owner.api.get(`/state-versions/${body.data.id}`);
    const current = await owner.api.get(`/workspaces/${id}/current-state-version`);
    const { intermediate } = shown.body.data.attributes;
    expect(current.status).toBe(intermediate ? 404 : 200);
    return intermediate;
  },

  async "state-versions.backing-data-actions"(fixture) {
    const { owner } = fixture;
    const { id } = await newLockedWorkspace(fixture);
    const { lineage } = stateFile();
    const first = await writeVersion(fixture, id, 1, lineage);
    await writeVersion(fixture, id, 2, lineage);
    const there: boolean[] = [];
    for (const [action, status] of [
      ["soft_delete", "backing_data_soft_deleted"],
      ["restore", "finalized"],
      ["soft_delete", "backing_data_soft_deleted"],
      ["permanently_delete", "backing_data_permanently_deleted"],
    ]) {
      const path = `/state-versions/${first}/actions/${action}_backing_data`;
      there.push(await isThere(owner.api.post(path)));
      const shown = await owner.api.get(`/state-versions/${first}`);
      expect(shown.body.data.attributes.status).toBe(there.at(-1) ? status : "finalized");
    }
    expect(new Set(there).size).toBe(1);
    return there[0] === true;
  },

  async "data-retention-policies"(fixture) {
    const { owner, organization, stack } = fixture;
    const administrator = await newUser(stack, { administrator: true });
    const { id } = await newWorkspace(fixture);
    const there: boolean[] = [];
    for (const [api, target] of [
      [owner.api, `/workspaces/${id}`],
      [owner.api, `/organizations/${organization}`],
      [administrator.api, "/admin/general-settings"],
    ] as const) {
      const path = `${target}/relationships/data-retention-policy`;
      there.push(await isThere(api.post(path, retentionPolicy)));
      there.push(await isThere(api.get(path)));
      there.push(await isThere(api.delete(path)));
    }
    expect(new Set(there).size).toBe(1);
    return there[0] === true;
  },

  async "free-tier.state-retention"(fixture) {
    const { owner, stack } = fixture;
    const administrator = await newUser(stack, { administrator: true });
    const organization = await newOrganization(owner.api);
    await expectStatus(
      200,
      administrator.api.patch(
        `/admin/organizations/${organization}`,
        document("organizations", { "plan-identifier": "free" }),
      ),
    );
    const { id } = await newLockedWorkspace({ organization, owner });
    const { lineage } = stateFile();
    const oldest = await writeVersion(fixture, id, 1, lineage);
    for (let serial = 2; serial <= 101; serial++) await writeVersion(fixture, id, serial, lineage);
    await age(fixture, id, 200);
    const gone = async () => (await owner.api.get(`/state-versions/${oldest}`)).status === 404;
    if (fixture === worlds.hosted()) {
      await waitFor(gone);
      const { body } = await owner.api.get(
        `/state-versions?filter[organization][name]=${organization}&filter[workspace][name]=${(await owner.api.get(`/workspaces/${id}`)).body.data.attributes.name}`,
      );
      expect(body.meta.pagination["total-count"]).toBe(100);
      return true;
    }
    // This other workspace has a version that its policy deletes. When that version is deleted, the scan has run.
    const other = await newWorkspace(fixture);
    const written = await writeState(owner.api, other.id, stateFile({ lineage }));
    await writeState(owner.api, other.id, stateFile({ serial: 2, lineage }));
    await owner.api.post(
      `/workspaces/${other.id}/relationships/data-retention-policy`,
      retentionPolicy,
    );
    await age(fixture, other.id, 200);
    await waitFor(async () => {
      const { body } = await owner.api.get(`/state-versions/${written.body.data.id}`);
      return body.data.attributes.status === "backing_data_permanently_deleted";
    });
    return gone();
  },

  async "workspaces.assessments-enabled"(fixture) {
    const { owner } = fixture;
    const { id, attributes } = await newWorkspace(fixture);
    const response = document("workspaces", {
      "execution-mode": "remote",
      "assessments-enabled": true,
    });
    const changed = await owner.api.patch(`/workspaces/${id}`, response);
    const there = "assessments-enabled" in attributes;
    expect(changed.status).toBe(there ? 200 : 422);
    if (there) expect(changed.body.data.attributes["assessments-enabled"]).toBe(true);
    const ignored = document("workspaces", { "assessments-enabled": false });
    expect((await owner.api.patch(`/workspaces/${id}`, ignored)).status).toBe(200);
    return there;
  },

  async "admin.general-settings"(fixture) {
    const administrator = await newUser(fixture.stack, { administrator: true });
    const path = "/admin/general-settings";
    const there = await isThere(administrator.api.get(path));
    const shared = document("general-settings", { "default-remote-state-access": true });
    expect(await isThere(administrator.api.patch(path, shared))).toBe(there);
    const workspace = await newWorkspace(fixture);
    expect(workspace.attributes["global-remote-state"]).toBe(there);
    return there;
  },
};

/** For each text that differs between the editions, a function that reads it. */
const values: Record<keyof typeof editionValues, (fixture: Fixture) => Promise<string | null>> = {
  "app-name": async ({ anonymous }) => (await anonymous.get("/ping")).headers.get("tfp-appname"),
};

describe.each(editionNames)("the edition %s", (name) => {
  test.each(Object.keys(editionTable) as Feature[])(
    "has %s only as the table says",
    async (feature) => {
      proves(
        "Editions/assessments-enabled",
        "Editions/global-remote-state",
        "Editions/data retention policies",
        "Editions/intermediate",
        "Editions/X-Terraform-Snapshot-Interval",
        "Editions/soft delete, restore, permanently delete, and their statuses",
        "Editions/free-tier state retention",
      );
      const seen = await shows[feature](worlds[name]());
      expect(seen).toBe(edition(name).has(feature));
    },
  );

  test.each(Object.keys(editionValues) as (keyof typeof editionValues)[])(
    "shows %s as the table says",
    async (value) => {
      proves("Editions/TFP-AppName");
      expect(await values[value](worlds[name]())).toBe(edition(name).value(value));
    },
  );
});
