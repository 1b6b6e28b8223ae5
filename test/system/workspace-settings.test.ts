import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { expectStatus } from "../stack/state.ts";
import { newWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();

const update = (id: string, attributes: Record<string, unknown>) =>
  fixture().owner.api.patch(`/workspaces/${id}`, document("workspaces", attributes));
const create = (attributes: Record<string, unknown>) =>
  fixture().owner.api.post(
    `/organizations/${fixture().organization}/workspaces`,
    document("workspaces", { name: unusedName("workspace"), ...attributes }),
  );
const updated = async (id: string, attributes: Record<string, unknown>) =>
  (await expectStatus(200, update(id, attributes))).body.data.attributes;

async function newAgentPool(): Promise<string> {
  const path = `/organizations/${fixture().organization}/agent-pools`;
  const name = unusedName("pool");
  const { body } = await expectStatus(
    201,
    fixture().owner.api.post(path, document("agent-pools", { name })),
  );
  return body.data.id;
}

describe("vcs-repo", () => {
  const least = { identifier: "acme/network", "oauth-token-id": "ot-1234567890abcdef" };

  test("can be created, changed key by key, and removed by null only", async () => {
    proves("Workspace/vcs-repo");
    const { id, attributes } = await newWorkspace(fixture(), { "vcs-repo": least });
    expect(attributes["vcs-repo"]).toMatchObject({
      ...least,
      branch: "",
      "ingress-submodules": false,
      "tags-regex": null,
    });
    expect(attributes["vcs-repo-identifier"]).toBe("acme/network");
    const changed = await updated(id, { "vcs-repo": { branch: "next", "tags-regex": "^v" } });
    expect(changed["vcs-repo"]).toMatchObject({ ...least, branch: "next", "tags-regex": "^v" });
    const kept = await updated(id, { description: "d" });
    expect(kept["vcs-repo"]).toEqual(changed["vcs-repo"]);
    expect((await updated(id, { "vcs-repo": null }))["vcs-repo"]).toBeNull();
  });

  test("accepts both names of the app installation", async () => {
    proves("Versioning/2023-03-08", "Workspace/vcs-repo.vcs-app-installation-id");
    const { id } = await newWorkspace(fixture(), { "vcs-repo": least });
    const expected = {
      "oauth-token-id": null,
      "vcs-app-installation-id": "ghain-abc",
      "github-app-installation-id": "ghain-abc",
    };
    const one = { "vcs-repo": { "github-app-installation-id": "ghain-abc" } };
    expect((await updated(id, one))["vcs-repo"]).toMatchObject(expected);
    const same = { "vcs-repo": { "vcs-app-installation-id": "ghain-abc" } };
    expect((await updated(id, same))["vcs-repo"]).toMatchObject(expected);
  });
});

describe("auto-destroy", () => {
  test("accepts a timestamp, and null removes it", async () => {
    proves("Versioning/2023-09-15", "Workspace/auto-destroy-at");
    const { id } = await newWorkspace(fixture(), {
      "auto-destroy-at": "2099-01-01T12:00:00+01:00",
    });
    expect(await updated(id, {})).toMatchObject({ "auto-destroy-at": "2099-01-01T11:00:00.000Z" });
    expect(await updated(id, { "auto-destroy-at": null })).toMatchObject({
      "auto-destroy-at": null,
    });
  });

  test("accepts a duration, from which the time is computed", async () => {
    proves("Versioning/2023-11-07", "Workspace/auto-destroy-activity-duration");
    const { id, attributes } = await newWorkspace(fixture(), {
      "auto-destroy-activity-duration": "14d",
    });
    const days = (Date.parse(attributes["auto-destroy-at"]) - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(13.9);
    expect(days).toBeLessThan(14.1);
    expect(await updated(id, { "auto-destroy-activity-duration": null })).toMatchObject({
      "auto-destroy-activity-duration": null,
      "auto-destroy-at": null,
    });
  });
});

describe("agent-pool-id", () => {
  const pointer = "/data/attributes/agent-pool-id";

  test("is set with the mode agent and cleared with it", async () => {
    proves("Workspace/agent-pool-id");
    const pool = await newAgentPool();
    const { id } = await newWorkspace(fixture(), {
      "execution-mode": "agent",
      "agent-pool-id": pool,
    });
    const shown = await fixture().owner.api.get(`/workspaces/${id}`);
    expect(shown.body.data.attributes["execution-mode"]).toBe("agent");
    expect(shown.body.data.attributes.operations).toBe(true);
    expect(shown.body.data.attributes["setting-overwrites"]).toEqual({
      "execution-mode": true,
      "agent-pool": true,
    });
    expect(shown.body.data.relationships["agent-pool"].data).toEqual({
      type: "agent-pools",
      id: pool,
    });
    await updated(id, { "execution-mode": "remote" });
    const left = await fixture().owner.api.get(`/workspaces/${id}`);
    expect(left.body.data.relationships["agent-pool"].data).toBeNull();
  });

  test.each([
    [{ "execution-mode": "agent" }, "must be specified when using 'agent' execution mode"],
    [{ "execution-mode": "agent", "agent-pool-id": "junk" }, "Agent pool is invalid"],
  ])("%j is refused", async (attributes, text) => {
    proves("Workspace/agent-pool-id");
    const answer = await create(attributes);
    expect(answer.status).toBe(422);
    expect(problems(answer)).toEqual({ [pointer]: text });
  });

  test.each([{ "execution-mode": "remote" }, { "execution-mode": "local" }, { operations: true }])(
    "cannot be given with %j",
    async (attributes) => {
      const answer = await create({ ...attributes, "agent-pool-id": await newAgentPool() });
      expect(answer.status).toBe(422);
      expect(problems(answer)).toEqual({
        [pointer]: "must not be specified unless using 'agent' execution mode",
      });
    },
  );
});

test("the creator of a workspace is set on creation only", async () => {
  proves("Workspace/source-name, source-url");
  const made = { "source-name": "a client", "source-url": "https://example.com" };
  const { id, attributes } = await newWorkspace(fixture(), made);
  expect(attributes).toMatchObject(made);
  expect(await updated(id, { "source-name": "another" })).toMatchObject(made);
});

test("assessments belong to another edition: false is ignored, true refused, and nothing shown", async () => {
  proves("Workspace/assessments-enabled");
  const { id, attributes } = await newWorkspace(fixture(), { "assessments-enabled": false });
  expect(attributes).not.toHaveProperty("assessments-enabled");
  const answer = await update(id, { "assessments-enabled": true });
  expect(answer.status).toBe(422);
  expect(Object.keys(problems(answer))).toEqual(["/data/attributes/assessments-enabled"]);
});

test("concurrent updates lose no change", async () => {
  proves("Workspace/two updates at once lose nothing");
  const { id } = await newWorkspace(fixture());
  const changes = [
    { "auto-apply": true },
    { description: "d" },
    { "working-directory": "w" },
    { "queue-all-runs": true },
    { "vcs-repo": { identifier: "a/b", "oauth-token-id": "ot-1" } },
  ];
  await Promise.all(changes.map((change) => updated(id, change)));
  expect(await updated(id, {})).toMatchObject({
    ...changes[0],
    ...changes[1],
    ...changes[2],
    ...changes[3],
  });
  expect((await updated(id, {}))["vcs-repo"].identifier).toBe("a/b");
});
