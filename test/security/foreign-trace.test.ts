import { waitFor } from "@statehouse/testing";
import { describe, expect, test } from "vitest";
import { upload } from "../stack/http.ts";
import { startProcesses, startStack } from "../stack/stack.ts";
import { announcement, expectStatus, stateFile } from "../stack/state.ts";
import { newLockedWorkspace, useFixture, useStack } from "../system/fixture.ts";

const victims = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const headers = { traceparent: `00-${victims}-bbbbbbbbbbbbbbbb-01` };

describe("a client", () => {
  const fixture = useFixture();
  test("does not choose the id of its request", async () => {
    const answer = await fixture().owner.api.send("GET", "/account/details", undefined, headers);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
    expect(answer.headers.get("x-request-id")).not.toBe(victims);
  });
  test.each(["/healthz", "/readyz", "/metrics"])(
    "cannot read %s, an endpoint of a single process",
    async (path) => {
      expect((await fixture().anonymous.get(`${fixture().url}${path}`)).status).toBe(404);
    },
  );
});

describe("a client of the port for state bytes", () => {
  const fixture = useStack(() => startProcesses({ settings: { LOG_LEVEL: "info" } }));
  test("does not choose the id of its upload", async () => {
    const { owner, stack } = fixture();
    const { id } = await newLockedWorkspace(fixture());
    const state = stateFile();
    const path = `/workspaces/${id}/state-versions`;
    const { body } = await expectStatus(201, owner.api.post(path, announcement(state)));
    const url = body.data.attributes["hosted-state-upload-url"];
    await expectStatus(200, upload(url, state.bytes, headers));
    const line = await waitFor(() =>
      stack.processes.state
        .output()
        .split("\n")
        .find((text) => text.includes("upload stored")),
    );
    expect(JSON.parse(line).trace_id).toMatch(/^[0-9a-f]{32}$/);
    expect(line).not.toContain(victims);
  });
});

describe("a trusted proxy", () => {
  const fixture = useStack(() => startStack({ settings: { TRUSTED_PROXIES: "127.0.0.0/8" } }));
  test("continues its trace", async () => {
    const answer = await fixture().owner.api.send("GET", "/account/details", undefined, headers);
    expect(answer.headers.get("x-request-id")).toBe(victims);
  });
});
