import { waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { unavailableServicesAreExpected } from "../golden/route-coverage.ts";
import { startProcesses } from "../stack/stack.ts";
import { newWorkspace, useStack } from "./fixture.ts";

const fixture = useStack(() =>
  startProcesses({ settings: { LOG_LEVEL: "info", LOG_FORMAT: "names" } }),
);

/** Waits for the gateway's line about the request of this response. */
const lineOf = ({ headers }: { headers: Headers }) =>
  waitFor(() =>
    fixture()
      .stack.processes.gateway.output()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line): Record<string, unknown> => JSON.parse(line))
      .find(({ msg, trace_id }) => msg === "request" && trace_id === headers.get("x-request-id")),
  );

test("a request is logged with who sent it, what it is about and why it failed", async () => {
  const { owner, organization } = fixture();
  const { id } = await newWorkspace(fixture());
  const found = await lineOf(await owner.api.get(`/workspaces/${id}`));
  expect(found).toMatchObject({ level: "info", status: 200, actor: owner.id, workspace: id });
  expect(found?.time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(found).not.toHaveProperty("code");
  const missing = await owner.api.get(`/organizations/${organization}/workspaces/none`);
  expect(await lineOf(missing)).toMatchObject({
    level: "info",
    status: 404,
    actor: owner.id,
    organization,
    code: "not_found",
    service: "workspaces",
  });
});

test("a request that fails because of a service is an error that names the service", async () => {
  unavailableServicesAreExpected();
  const { owner, stack } = fixture();
  const { id } = await newWorkspace(fixture());
  await stack.processes.state.kill();
  const failed = await owner.api.get(`/workspaces/${id}/current-state-version`);
  expect(failed.status).toBe(503);
  expect(await lineOf(failed)).toMatchObject({
    level: "error",
    status: 503,
    code: "service_unavailable",
    service: "state",
    workspace: id,
  });
  await stack.processes.state.start();
});

test("a response of /v1/object has the id of the request", async () => {
  const { stack } = fixture();
  const port = stack.environments.state.OBJECT_PORT;
  const response = await fetch(`http://127.0.0.1:${port}/v1/object/sv-0000000000000000`);
  expect(response.status).toBe(401);
  expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f]{32}$/);
});
