import {
  type Environment,
  type ServiceName,
  serviceNames,
} from "@statehouse/standalone/environments";
import { needs, waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { startBalancer } from "../stack/balancer.ts";
import { download, upload } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { reservePort } from "../stack/port.ts";
import { serviceProcess } from "../stack/processes.ts";
import { startProcesses } from "../stack/stack.ts";
import { announcement, expectStatus, stateFile } from "../stack/state.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";
import { newUser } from "../system/fixture.ts";

const CLIENTS = 4;

/** Starts two replicas of every service, a balancer for the gateways, and a balancer for the ports of state bytes. */
async function startReplicas(stack: AsyncDisposableStack) {
  const api = stack.use(await startBalancer());
  const objects = stack.use(await startBalancer());
  const second = new Map<ServiceName, Environment>();
  const first = stack.use(
    await startProcesses({
      blobs: "minio",
      settings: { DRAIN_SECONDS: "1" },
      async rewire(environments) {
        for (const name of serviceNames) {
          const ports = ["PORT", "OBJECT_PORT", "GRPC_PORT", "OPS_PORT"];
          const own = await Promise.all(
            ports.map(async (port) => [port, `${await reservePort()}`]),
          );
          second.set(name, { ...environments[name], ...Object.fromEntries(own) });
        }
        const both = (name: ServiceName) =>
          `ipv4:127.0.0.1:${environments[name].GRPC_PORT},127.0.0.1:${second.get(name)?.GRPC_PORT}`;
        for (const name of serviceNames) {
          for (const environment of [environments[name], second.get(name)]) {
            Object.assign(environment ?? {}, {
              PUBLIC_URL: name === "gateway" ? api.url : objects.url,
              STATE_OBJECT_URL: objects.url,
              ACCESS_ADDRESS: both("access"),
              WORKSPACES_ADDRESS: both("workspaces"),
              STATE_ADDRESS: both("state"),
            });
          }
        }
      },
    }),
  );
  const others = [...second].map(([name, environment]) =>
    stack.use(serviceProcess(name, environment)),
  );
  await Promise.all(others.map((process) => process.start()));
  const replicas = [Object.values(first.processes), others] as const;
  for (const processes of replicas) {
    for (const { name, environment } of processes) {
      const opsPort = Number(environment.OPS_PORT);
      if (name === "gateway") api.follow({ port: Number(environment.PORT), opsPort });
      if (name === "state") objects.follow({ port: Number(environment.OBJECT_PORT), opsPort });
    }
  }
  const complete = () => waitFor(() => api.complete() && objects.complete());
  await complete();
  return { stack: Object.assign(first, { url: api.url }), replicas, complete };
}

needs("minio")("with two replicas of each service", () => {
  test("no request fails while one replica of each after the other stops and starts", async () => {
    await using started = new AsyncDisposableStack();
    const { stack, replicas, complete } = await startReplicas(started);
    const { api, token } = await newUser(stack);
    const organization = await waitFor(() => newOrganization(api));
    let stop = false;
    let requests = 0;
    const failures: string[] = [];
    const client = async () => {
      const { id } = await newWorkspaceIn(api, organization);
      for (let serial = 1; !stop; serial++) {
        const state = stateFile({ serial, lineage: id, marker: "x".repeat(100_000) });
        await expectStatus(200, api.post(`/workspaces/${id}/actions/lock`));
        const made = await expectStatus(
          201,
          api.post(`/workspaces/${id}/state-versions`, announcement(state)),
        );
        const { attributes } = made.body.data;
        await expectStatus(200, upload(attributes["hosted-state-upload-url"], state.bytes));
        await expectStatus(200, api.post(`/workspaces/${id}/actions/unlock`));
        const current = await expectStatus(200, api.get(`/workspaces/${id}/current-state-version`));
        const url: string = current.body.data.attributes["hosted-state-download-url"];
        const read = await download(url, token);
        expect(read.status).toBe(200);
        requests += 6;
      }
    };
    const guarded = () =>
      client().catch((error: unknown) => {
        failures.push(String(error));
      });
    const clients = Array.from({ length: CLIENTS }, guarded);

    const restart = async (process: ReturnType<typeof serviceProcess>) => {
      expect(await process.terminate()).toBe(0);
      await process.start();
    };
    for (const processes of replicas) {
      const before = requests;
      await waitFor(() => requests > before + 20 || failures.length > 0);
      await Promise.all(processes.map(restart));
      await complete();
    }
    const before = requests;
    await waitFor(() => requests > before + 20 || failures.length > 0);
    stop = true;
    await Promise.all(clients);
    expect(failures).toEqual([]);
  });
});
