import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { newId } from "@statehouse/postgres/ids";
import { serviceNames } from "@statehouse/standalone/environments";
import { childEnvironment, needs, newServiceKeys, waitFor } from "@statehouse/testing";
import { describe, expect, test } from "vitest";
import { unavailableServicesAreExpected } from "../golden/route-coverage.ts";
import { halfSent } from "../stack/half-sent.ts";
import { document, upload } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { startProcesses } from "../stack/stack.ts";
import {
  announcement,
  inlineState,
  processedVersion,
  stateFile,
  writeState,
} from "../stack/state.ts";
import { namesOf, newLockedWorkspace, newWorkspace, recordedApi, useStack } from "./fixture.ts";
import { smoke } from "./smoke.ts";
import { uploadDuringStop } from "./upload-during-stop.ts";

unavailableServicesAreExpected();

const run = promisify(execFile);

const dependenciesOf = async (ready: Response): Promise<Record<string, { status: string }>> =>
  JSON.parse(await ready.text()).dependencies;

needs("minio")("four processes on MinIO", () => {
  const fixture = useStack(() => startProcesses({ blobs: "minio" }));
  const operations = (name: (typeof serviceNames)[number], path: string) =>
    fetch(`http://127.0.0.1:${fixture().stack.environments[name].OPS_PORT}${path}`);

  test("the life of a workspace succeeds", async () => {
    await smoke(fixture());
  });

  test("a run gets its token, locks, writes and unlocks, and reads states that it may consume", async () => {
    const { stack, owner, url } = fixture();
    const [own, shared] = [
      await newWorkspace(fixture()),
      await newWorkspace(fixture(), { "global-remote-state": true }),
    ];
    await writeState(owner.api, shared.id, stateFile());
    const { locks, tokens } = await stack.runnerCalls("runner");
    const run = { runId: newId("run"), workspaceId: own.id };
    await locks.lockAsRun({ ...run, reason: "applying" });
    const { secret } = await tokens.createRunToken(run);
    const api = recordedApi(url, secret);
    const path = `/workspaces/${own.id}/state-versions`;
    expect((await api.post(path, inlineState(stateFile()))).status).toBe(201);
    expect((await api.get(`/workspaces/${shared.id}/current-state-version`)).status).toBe(200);
    await locks.unlockAsRun(run);
    expect((await api.get(`/workspaces/${own.id}/current-state-version`)).status).toBe(200);
  });

  test("the example runner reports with its certificate", async () => {
    const { stack, owner } = fixture();
    const { id } = await newWorkspace(fixture());
    const example = path.join(import.meta.dirname, "../../examples/runner/report.mjs");
    const environment = {
      ...stack.certificates.settingsOf("runner"),
      WORKSPACE_ID: id,
      WORKSPACES_ADDRESS: await stack.runnerAddress(),
      ASSERTION_PRIVATE_KEY: stack.runnerKey("runner"),
      USER_ID: owner.id,
    };
    const { stdout } = await run(process.execPath, [example], { env: environment });
    const { body } = await owner.api.get(`/workspaces/${id}?include=current_run`);
    expect(body.included[0]).toMatchObject({
      id: stdout.trim(),
      attributes: { status: "applied" },
    });
  });

  test("rights and conflicts are the same as in one process", async () => {
    const { owner, reader, outsider, readable, organization } = fixture();
    const { id, attributes } = await newWorkspace(fixture(), {}, readable.id);
    expect((await reader.api.get(`/workspaces/${id}`)).status).toBe(200);
    expect((await reader.api.delete(`/workspaces/${id}`)).status).toBe(403);
    expect((await outsider.api.get(`/workspaces/${id}`)).status).toBe(404);
    const again = await owner.api.post(
      `/organizations/${organization}/workspaces`,
      document("workspaces", { name: attributes.name, "engine-version": "nonsense" }),
    );
    expect(again.status).toBe(422);
    expect(again.body.errors).toHaveLength(2);
    const locks = await Promise.all(
      Array.from({ length: 20 }, () => owner.api.post(`/workspaces/${id}/actions/lock`)),
    );
    expect(locks.map(({ status }) => status).toSorted()).toEqual([200, ...Array(19).fill(409)]);
  });

  test.each(serviceNames)(
    "%s reports liveness, readiness with its dependencies, and metrics",
    async (name) => {
      expect((await operations(name, "/healthz")).status).toBe(200);
      const ready = await operations(name, "/readyz?verbose");
      expect(ready.status).toBe(200);
      const dependencies = await dependenciesOf(ready);
      const known = {
        gateway: ["access", "state", "workspaces"],
        access: ["database"],
        workspaces: ["database"],
        state: ["database"],
      }[name];
      expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(known));
      for (const [dependency, { status }] of Object.entries(dependencies)) {
        expect(status, `${name}: ${dependency}`).toBe("ok");
      }
      const metrics = await operations(name, "/metrics");
      expect(metrics.headers.get("content-type")).toContain("text/plain");
      expect(await metrics.text()).toContain("statehouse_process_resident_memory_bytes");
      expect((await operations(name, "/nothing")).status).toBe(404);
    },
  );

  test("a list larger than one message is returned completely, with and without pages", async () => {
    const { owner } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const outputs = Object.fromEntries(
      ["a", "b", "c", "d"].map((name) => [name, { value: name.repeat(5_000_000), type: "string" }]),
    );
    const state = stateFile({ outputs });
    const created = await owner.api.post(`/workspaces/${id}/state-versions`, announcement(state));
    const version = created.body.data;
    const put = await upload(version.attributes["hosted-state-upload-url"], state.bytes);
    expect(put.status).toBe(200);
    await processedVersion(owner.api, version.id);
    for (const path of [
      `/workspaces/${id}/current-state-version-outputs`,
      `/state-versions/${version.id}/outputs?page[size]=100`,
    ]) {
      const answer = await owner.api.get(path);
      expect(answer.status).toBe(200);
      expect(namesOf(answer)).toEqual(Object.keys(outputs));
      expect(answer.body.meta.pagination["total-count"]).toBe(4);
    }
  });

  test("gateway reports an unavailable service and stays ready", async () => {
    const { stack, owner } = fixture();
    const { id } = await newWorkspace(fixture());
    await stack.processes.state.kill();
    try {
      const dependencies = await dependenciesOf(await operations("gateway", "/readyz?verbose"));
      expect(dependencies).toMatchObject({ state: { status: "failed" }, access: { status: "ok" } });
      const answer = await owner.api.get(`/workspaces/${id}/current-state-version`);
      expect(answer.status).toBe(503);
      expect(answer.body.errors[0].title).toBe("service unavailable");
      expect((await owner.api.get(`/workspaces/${id}`)).status).toBe(200);
    } finally {
      await stack.processes.state.start();
    }
    await waitFor(async () => {
      const answer = await owner.api.get(`/workspaces/${id}/current-state-version`);
      return answer.status === 404;
    });
  });

  test("gateway completes requests in progress on SIGTERM and exits with 0", async () => {
    const { stack, url, owner, organization } = fixture();
    const { gateway } = stack.processes;
    const name = unusedName("under-way");
    const post = await halfSent(
      "POST",
      `${url}/api/v2/organizations/${organization}/workspaces`,
      Buffer.from(JSON.stringify(document("workspaces", { name }))),
      { authorization: `Bearer ${owner.token}` },
    );
    const stopped = gateway.terminate();
    await waitFor(async () => {
      const refused = await fetch(`${url}/api/v2/ping`).catch(() => undefined);
      return refused === undefined;
    });
    post.finish();
    expect(await post.answer).toBe(201);
    expect(await stopped).toBe(0);
    await gateway.start();
    const made = await owner.api.get(`/organizations/${organization}/workspaces/${name}`);
    expect(made.status).toBe(200);
  });

  test("state completes uploads in progress on SIGTERM and exits with 0", async () => {
    const { target, state } = await uploadDuringStop(
      fixture(),
      fixture().stack.processes.state,
      100_000,
    );
    expect((await upload(target, state.bytes)).status).toBe(200);
  });

  test.each(["workspaces", "access"] as const)(
    "%s exits with 0 under load, and each request succeeds or is unavailable",
    async (name) => {
      const { stack, owner } = fixture();
      const { id } = await newWorkspace(fixture());
      const responses = Array.from({ length: 30 }, () => owner.api.get(`/workspaces/${id}`));
      const stopped = stack.processes[name].terminate();
      const answers = await Promise.all(responses);
      for (const { status } of answers) expect([200, 503]).toContain(status);
      expect(await stopped).toBe(0);
      await stack.processes[name].start();
      await waitFor(async () => (await owner.api.get(`/workspaces/${id}`)).status === 200);
    },
  );
});

test("the gateway does not start if a response may take longer than its connection is idle", async () => {
  const { settingsOf } = await newServiceKeys("gateway");
  const started = run(process.execPath, ["services/cli/main.ts", "gateway"], {
    env: childEnvironment({
      ...settingsOf("gateway"),
      GRPC_TLS: "off",
      PUBLIC_URL: "http://127.0.0.1",
      PORT: "0",
      OPS_PORT: "0",
      REQUEST_TIMEOUT: "30",
      IDLE_TIMEOUT: "30",
    }),
    timeout: 20_000,
  });
  await expect(started).rejects.toMatchObject({
    code: 1,
    stderr: "REQUEST_TIMEOUT: must be less than IDLE_TIMEOUT, which is 30 seconds\n",
  });
});

describe.each(serviceNames)("%s with an invalid configuration", (name) => {
  const start = (env: Record<string, string>) =>
    run(process.execPath, ["services/cli/main.ts", name], {
      env: childEnvironment(env),
      timeout: 20_000,
    }).then(
      () => ({ code: 0, stderr: "" }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
    );

  test("reports every problem without a stack", async () => {
    const { code, stderr } = await start({
      LOG_LEVEL: "silent",
      OPS_PORT: "many",
      EDITION: "other",
      ASSERTION_PRIVATE_KEY: "{",
      REQUEST_TIMEOUT: "-1",
    });
    expect(code).toBe(1);
    const named = {
      gateway: ["PUBLIC_URL", "EDITION", "REQUEST_TIMEOUT"],
      access: ["DATABASE_URL", "ASSERTION_PUBLIC_KEYS"],
      workspaces: ["DATABASE_URL", "ASSERTION_PUBLIC_KEYS"],
      state: ["DATABASE_URL", "PUBLIC_URL", "UPLOAD_TOKEN_KEYS", "SEALING_KEYS", "EDITION"],
    }[name];
    for (const variable of ["OPS_PORT", "ASSERTION_PRIVATE_KEY", ...named]) {
      expect(stderr).toContain(variable);
    }
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stderr.trim().split("\n").length).toBeLessThan(15);
  });
});
