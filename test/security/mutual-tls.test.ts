import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { WorkspaceStateService } from "@statehouse/proto/statehouse/state/v1/workspace_state";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { createClient, createIdentity, grpcChannel, openGrpcTls } from "@statehouse/rpc";
import { StartError } from "@statehouse/runtime";
import { type ServiceName, serviceNames } from "@statehouse/standalone/environments";
import { newAuthority, newServiceCertificates, waitFor } from "@statehouse/testing";
import { expect, test } from "vitest";
import { eventually } from "../faults/fixture.ts";
import { reservePort } from "../stack/port.ts";
import { serviceProcess } from "../stack/processes.ts";
import { type ProcessStack, startProcesses } from "../stack/stack.ts";
import { newWorkspace, useStack } from "../system/fixture.ts";

// Attack: a process in the network of the services connects to their ports, or repeats an assertion that it copied.

const fixture = useStack(() => startProcesses({ settings: { LOG_LEVEL: "info" } }));

type Tls = ReturnType<typeof openGrpcTls> | undefined;

/**
 * Calls each service that has a gRPC port. Each call has the TLS options `tls` and the identity of a service that
 * normally makes this call.
 */
const calls = {
  async access(stack: ProcessStack, tls: Tls) {
    await using channel = channelTo(stack, "access", tls);
    const identity = await identityOf(stack, "gateway");
    const token = fixture().owner.token;
    await createClient(AuthenticationService, channel, identity).authenticate({ token });
  },
  async workspaces(stack: ProcessStack, tls: Tls) {
    await using channel = channelTo(stack, "workspaces", tls);
    const identity = await identityOf(stack, "state");
    const { id: workspaceId } = await newWorkspace(fixture());
    await createClient(WorkspaceLockService, channel, identity).getLock({ workspaceId });
  },
  async state(stack: ProcessStack, tls: Tls) {
    await using channel = channelTo(stack, "state", tls);
    const identity = await identityOf(stack, "workspaces");
    await createClient(WorkspaceStateService, channel, identity).listWorkspaceStates({ limit: 1 });
  },
};

/** For each called service, the service that makes the call. */
const callers = { access: "gateway", workspaces: "state", state: "workspaces" } as const;
const called = Object.keys(calls) as (keyof typeof calls)[];

const channelTo = (
  { environments }: ProcessStack,
  name: keyof typeof calls,
  tls: Tls,
  audience: string = name,
) => grpcChannel({ address: `127.0.0.1:${environments[name].GRPC_PORT}`, audience, tls });

const identityOf = ({ environments }: ProcessStack, name: ServiceName) =>
  createIdentity(name, JSON.parse(environments[name].ASSERTION_PRIVATE_KEY ?? "null"));

const unavailable = { kind: "unavailable" };

test.each(called)("%s responds to the service with the certificate of its name", async (name) => {
  const { stack } = fixture();
  const tls = openGrpcTls(stack.certificates.filesOf(callers[name]));
  await calls[name](stack, tls);
});

test.each(called)("%s refuses connections without TLS", async (name) => {
  await expect(calls[name](fixture().stack, undefined)).rejects.toMatchObject(unavailable);
});

test.each(called)("%s refuses certificates of another authority", async (name) => {
  const { stack } = fixture();
  const { certificates } = stack;
  const files = await certificates.issue("foreign", await newAuthority(), [callers[name]]);
  const tls = openGrpcTls(files);
  await expect(calls[name](stack, tls)).rejects.toMatchObject(unavailable);
});

test.each(called)("%s refuses a copied assertion from another service", async (name) => {
  const { stack } = fixture();
  const other = callers[name] === "gateway" ? "state" : "gateway";
  for (const thief of [other, "runner", "testing"]) {
    const tls = openGrpcTls(stack.certificates.filesOf(thief));
    await expect(calls[name](stack, tls)).rejects.toMatchObject({ kind: "unauthenticated" });
  }
});

test("a certificate that only resembles the name of a service is refused", async () => {
  const { stack } = fixture();
  const names = [["*"], ["state.example.com"], ["x, DNS:state, DNS:y"], []];
  for (const [index, list] of names.entries()) {
    const files = await stack.certificates.issue(`similar-${index}`, undefined, list);
    const tls = openGrpcTls(files);
    const call = calls.workspaces(stack, tls);
    await expect(call, String(list)).rejects.toMatchObject({ kind: "unauthenticated" });
  }
});

test("a service does not call a server of another authority, or of another service", async () => {
  const { stack } = fixture();
  await using elsewhere = await newServiceCertificates("state");
  const own = stack.certificates.filesOf("state");
  const distrusting = openGrpcTls({ ...own, caFile: elsewhere.filesOf("state").caFile });
  await expect(calls.workspaces(stack, distrusting)).rejects.toMatchObject(unavailable);

  const tls = openGrpcTls(own);
  await using misled = channelTo(stack, "access", tls, "workspaces");
  const locks = createClient(WorkspaceLockService, misled, await identityOf(stack, "state"));
  await expect(locks.getLock({ workspaceId: "ws-1" })).rejects.toMatchObject(unavailable);
});

test("files that cannot be used end the start", async () => {
  const { certificates } = fixture().stack;
  const state = certificates.filesOf("state");
  const gateway = certificates.filesOf("gateway");
  for (const wrong of [
    { ...state, keyFile: gateway.keyFile },
    { ...state, certFile: "/nonexistent.pem" },
    { ...state, caFile: state.keyFile },
  ]) {
    expect(() => openGrpcTls(wrong)).toThrow(StartError);
  }
});

test("a service without files does not start, and one without TLS says so", async () => {
  const { GRPC_CA_FILE, GRPC_CERT_FILE, GRPC_KEY_FILE, GRPC_TLS, ...rest } =
    fixture().stack.environments.gateway;
  const ports = { PORT: String(await reservePort()), OPS_PORT: String(await reservePort()) };
  await using without = serviceProcess("gateway", { ...rest, ...ports });
  await expect(without.start()).rejects.toThrow(
    "GRPC_CA_FILE: is required with GRPC_TLS=on\nGRPC_CERT_FILE: is required with GRPC_TLS=on",
  );
  await using off = serviceProcess("gateway", { ...rest, ...ports, GRPC_TLS: "off" });
  await off.start();
  expect(off.output()).toContain("GRPC_TLS is off");
});

test("authority and certificates are replaced without a failed request", async () => {
  const { stack, owner, organization } = fixture();
  const { certificates, processes } = stack;
  const { id } = await newWorkspace(fixture());
  const failures: string[] = [];
  let requests = 0;
  let running = true;
  const load = async () => {
    while (running) {
      for (const answer of [
        await owner.api.post(`/workspaces/${id}/actions/lock`),
        await owner.api.get(`/workspaces/${id}?include=organization`),
        await owner.api.post(`/workspaces/${id}/actions/unlock`),
        await owner.api.get(`/organizations/${organization}/teams`),
      ]) {
        requests++;
        if (answer.status !== 200) failures.push(JSON.stringify(answer.body));
      }
    }
  };
  const reloaded = (times: number) =>
    waitFor(() =>
      serviceNames.every((name) => {
        const lines = processes[name].output().split("settings renewed");
        return lines.length > times;
      }),
    );
  const loading = load();

  const next = await newAuthority();
  await certificates.trust(certificates.authority, next);
  await reloaded(1);
  const former = await certificates.issue("former", certificates.authority, ["state"]);
  for (const name of [...serviceNames, "testing"]) await certificates.issue(name, next);
  await reloaded(2);
  await certificates.trust(next);
  await reloaded(3);
  running = false;
  await loading;
  expect(failures).toEqual([]);
  expect(requests).toBeGreaterThan(10);

  // New connections use the new certificates and trust no others. One service is restarted, so that it opens new
  // connections to the services that still run.
  await processes.workspaces.kill();
  await processes.workspaces.start();
  await eventually(200, () => owner.api.post(`/workspaces/${id}/actions/lock`));
  await eventually(404, () => owner.api.get(`/workspaces/${id}/current-state-version`));
  const tls = openGrpcTls(former);
  await expect(calls.workspaces(stack, tls)).rejects.toMatchObject(unavailable);
});
