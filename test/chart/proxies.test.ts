import { rm } from "node:fs/promises";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import tls from "node:tls";
import { newAuthority, temporaryFolder, waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { halfSent } from "../stack/half-sent.ts";
import { type Api, api, download, upload } from "../stack/http.ts";
import { scrape, total } from "../stack/metrics.ts";
import { newOrganization } from "../stack/organization.ts";
import { reservePort } from "../stack/port.ts";
import { type ProcessStack, startProcesses } from "../stack/stack.ts";
import { announcement, expectStatus, inlineState, md5Of, stateFile } from "../stack/state.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";
import { render } from "./helm.ts";
import type { RunningProgram } from "./program.ts";
import { type Edge, haproxyConfiguration, nginxConfiguration, startProxy } from "./proxies.ts";

const MEBIBYTE = 1024 ** 2;
/**
 * The time limits of the rendered HTTPRoute are divided by this number. A request to the gateway may therefore take at
 * most 6 seconds.
 */
const FASTER = 10;

let stack: ProcessStack;
let owner: { api: Api; token: string };
let organization: string;
let startEdge: (program: "nginx" | "haproxy") => Promise<RunningProgram>;
const started = new AsyncDisposableStack();

beforeAll(async () => {
  const folder = started.use(await temporaryFolder()).path;
  const port = await reservePort();
  const url = `https://localhost:${port}`;
  const authority = await newAuthority();
  const issued = await authority.issue("localhost");
  // Trusts the test's certificate authority, as clients trust the certificate authority of their company.
  const before = tls.getCACertificates("default");
  tls.setDefaultCACertificates([...before, authority.certificate]);
  started.defer(() => tls.setDefaultCACertificates(before));
  stack = started.use(
    await startProcesses({
      async rewire({ gateway, state }) {
        gateway.PUBLIC_URL = url;
        state.PUBLIC_URL = url;
      },
    }),
  );
  const rendered = await render({
    settings: { PUBLIC_URL: url },
    networkPolicy: { ingressController: { namespaces: ["edge"] } },
    ingress: { enabled: true, tls: [{ hosts: ["localhost"], secretName: "statehouse-tls" }] },
    httpRoute: { enabled: true, parentRefs: [{ name: "public" }] },
  });
  const edge: Edge = {
    ...issued,
    folder: path.join(folder, "edge"),
    port,
    addressOf(component, name) {
      const { gateway, state } = stack.environments;
      const ports = { "gateway http": gateway.PORT, "state objects": state.OBJECT_PORT };
      const found = Object.entries(ports).find(([key]) => key === `${component} ${name}`)?.[1];
      if (!found)
        throw new Error(
          `a route leads to the port ${name} of ${component}, which this test does not serve`,
        );
      return `127.0.0.1:${found}`;
    },
  };
  startEdge = async (program) => {
    await rm(edge.folder, { recursive: true, force: true });
    const configuration =
      program === "nginx"
        ? nginxConfiguration(rendered, edge)
        : haproxyConfiguration(rendered, edge, FASTER);
    return await startProxy(program, configuration, edge);
  };
  const { token } = await stack.people.newUser();
  owner = { token, api: api(url, token) };
  const direct = api(`http://127.0.0.1:${stack.environments.gateway.PORT}`, token);
  organization = await waitFor(() => newOrganization(direct));
});
afterAll(() => started.disposeAsync());

/**
 * Creates a workspace with a pending state version for `state`. Returns the workspace's id, the upload URL, and a
 * function that returns the md5 of the stored bytes.
 */
async function announced(state: ReturnType<typeof stateFile>) {
  const { id } = await newWorkspaceIn(owner.api, organization);
  await expectStatus(200, owner.api.post(`/workspaces/${id}/actions/lock`));
  const { body } = await expectStatus(
    201,
    owner.api.post(`/workspaces/${id}/state-versions`, announcement(state)),
  );
  return {
    id,
    uploadUrl: body.data.attributes["hosted-state-upload-url"] as string,
    async stored() {
      const current = await expectStatus(
        200,
        owner.api.get(`/workspaces/${id}/current-state-version`),
      );
      const url: string = current.body.data.attributes["hosted-state-download-url"];
      expect(url).toMatch(/^https:\/\/localhost:\d+\/v1\/object\//);
      const { status, bytes } = await download(url, owner.token);
      expect(status).toBe(200);
      return md5Of(bytes);
    },
  };
}

test.for([
  ["nginx", "the rendered Ingress"],
  ["haproxy", "the rendered HTTPRoute"],
] as const)(
  "%s, configured from %s, carries the API, and large and slow uploads",
  { timeout: 180_000 },
  async ([program]) => {
    await using _ = await startEdge(program);
    const { origin } = new URL(stack.environments.gateway.PUBLIC_URL ?? "");

    // The proxy routes `/v1/object/…` to the state service. All other paths go to the gateway, even similar ones such
    // as `/v1/objects`.
    expect((await fetch(`${origin}/.well-known/terraform.json`)).status).toBe(200);
    expect((await fetch(`${origin}/v1/object/sv-AAAAAAAAAAAAAAAA`)).status).toBe(401);
    expect((await fetch(`${origin}/v1/objects`)).status).toBe(404);

    // A request body for the API that is larger than the default limit of proxies.
    const inline = stateFile({ marker: "i".repeat(20 * MEBIBYTE) });
    const { id } = await newWorkspaceIn(owner.api, organization);
    await expectStatus(200, owner.api.post(`/workspaces/${id}/actions/lock`));
    await expectStatus(
      201,
      owner.api.post(`/workspaces/${id}/state-versions`, inlineState(inline)),
    );

    const large = stateFile({ marker: "l".repeat(110 * MEBIBYTE) });
    const one = await announced(large);
    await expectStatus(200, upload(one.uploadUrl, large.bytes));
    expect(await one.stored()).toBe(large.md5);

    // An upload that pauses for longer than a request to the API may take. The state service reads it while the client
    // is still sending.
    const slow = stateFile({ marker: "s".repeat(8 * MEBIBYTE) });
    const other = await announced(slow);
    const sent = await halfSent("PUT", other.uploadUrl, slow.bytes);
    await waitFor(async () => {
      const samples = await scrape(stack.environments.state.OPS_PORT);
      return total(samples, "statehouse_object_requests_in_progress") === 1;
    });
    await pause(60_000 / FASTER + 2_000);
    sent.finish();
    expect(await sent.answer).toBe(200);
    expect(await other.stored()).toBe(slow.md5);
  },
);
