import type { Principal } from "@statehouse/authorization";
import { AppError, conflict, invalid } from "@statehouse/errors";
import { freePort } from "@statehouse/local-services";
import { StateVersionService } from "@statehouse/proto/statehouse/state/v1/state_version";
import { AdminService } from "@statehouse/proto/statehouse/workspaces/v1/admin";
import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import {
  type Actor,
  createLogger,
  currentActor,
  remainingMs,
  runWithDeadline,
  traceId,
  withServerSpan,
} from "@statehouse/runtime";
import { importJWK, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type AssertionKeys,
  type CallOptions,
  type Channel,
  type Client,
  createClient,
  createIdentity,
  createRpcServer,
  generateAssertionKey,
  grpcChannel,
  implement,
  type RpcServer,
  type ServiceIdentity,
} from "./index.ts";

const user: Principal = { type: "user", id: "user-1", versions: "v1" };
const logger = createLogger({ service: "workspaces", level: "silent" });

let gatewayKey: Awaited<ReturnType<typeof generateAssertionKey>>;
let stateKey: typeof gatewayKey;
let gateway: ServiceIdentity;
let state: ServiceIdentity;
let server: RpcServer;
let port: number;
let seen: { principal: Principal; remaining: number | undefined; trace: string | undefined }[] = [];
const actors: (Actor | undefined)[] = [];
let calls = 0;

const binding = implement<typeof WorkspaceLockService, { principal: Principal }>(
  WorkspaceLockService,
  {
    lockWorkspace: async ({ workspaceId, reason }, { principal }) => {
      calls++;
      seen.push({ principal, remaining: remainingMs(), trace: traceId() });
      actors.push(currentActor());
      if (reason === "conflict") throw conflict("workspace_locked", "is locked by User Zoë");
      if (reason === "invalid") throw invalid([{ field: "name", detail: "Name is invalid" }]);
      if (reason === "break") throw new Error("a secret cause");
      if (reason.startsWith("large")) return { workspace: { id: reason } };
      if (reason === "slow") await new Promise((resolve) => setTimeout(resolve, 2000));
      return { workspace: { id: workspaceId } };
    },
    unlockWorkspace: async () => ({}),
    forceUnlockWorkspace: async () => ({}),
    getLock: async () => ({}),
    batchGetPlacements: async () => ({}),
    getPlacement: async ({ workspaceId }) => {
      calls++;
      actors.push(currentActor());
      // The id in the request specifies the size of the response to create.
      return { placement: { organizationId: "ö".repeat(Number(workspaceId) / 2) } };
    },
  },
);

/** A service with a method that takes large requests. */
const versions = implement<typeof StateVersionService, unknown>(StateVersionService, {
  createStateVersion: async ({ lineage, jsonStateOutputs }) => {
    calls++;
    return { stateVersion: { lineage: `${lineage} ${jsonStateOutputs?.length}` } };
  },
  rollbackStateVersion: async () => ({}),
  getStateVersion: async () => ({}),
  getCurrentStateVersion: async () => ({}),
  compareStateVersions: async () => ({}),
  listStateVersions: async () => ({}),
  batchGetStateVersions: async () => ({}),
});

beforeAll(async () => {
  gatewayKey = await generateAssertionKey();
  stateKey = await generateAssertionKey();
  gateway = await createIdentity("gateway", gatewayKey.privateJwk);
  state = await createIdentity("state", stateKey.privateJwk);
  const keys: AssertionKeys = { gateway: [gatewayKey.publicJwk], state: [stateKey.publicJwk] };
  server = createRpcServer({
    name: "workspaces",
    bindings: [binding, versions],
    keys,
    context: async (principal) => ({ principal }),
    logger,
  });
  ({ port } = await server.listen({ host: "127.0.0.1", port: 0 }));
});
afterAll(() => server[Symbol.asyncDispose]());

const connections: Record<string, () => Channel> = {
  "in process": () => server.inProcess(),
  "over gRPC": () => grpcChannel({ address: `127.0.0.1:${port}`, audience: "workspaces" }),
};

describe.each(Object.entries(connections))("a call %s", (_, open) => {
  let channel: Channel;
  let client: Client<typeof WorkspaceLockService>;
  beforeAll(() => {
    channel = open();
    client = createClient(WorkspaceLockService, channel);
    seen = [];
  });
  afterAll(() => channel[Symbol.asyncDispose]());

  const failure = async (reason: string, as: CallOptions = gateway.on(user)) =>
    client.lockWorkspace({ workspaceId: "ws-1", reason }, as).then(
      () => undefined,
      (error: unknown) => error,
    );

  test("transfers the messages and the caller", async () => {
    const { workspace } = await client.lockWorkspace({ workspaceId: "ws-1" }, gateway.on(user));
    expect(workspace?.id).toBe("ws-1");
    expect(seen.at(-1)?.principal).toEqual(user);
  });

  test("transfers the actor of the call, and accepts a client address only from the gateway", async () => {
    const of = { ...user, tokenId: "at-abcdefgh12345678" };
    const clientAddress = "192.0.2.7";
    await client.lockWorkspace({ workspaceId: "ws-1" }, { ...gateway.on(of), clientAddress });
    const { type, id, tokenId } = of;
    expect(actors.at(-1)).toEqual({ type, id, tokenId, address: clientAddress });
    await client.getPlacement({ workspaceId: "2" }, { assertion: state.assertion, clientAddress });
    expect(actors.at(-1)).toEqual({ type: "service", id: "state" });
    await client.lockWorkspace(
      { workspaceId: "ws-1" },
      { ...gateway.on(of), clientAddress: "x; y" },
    );
    expect(actors.at(-1)).toEqual({ type, id, tokenId, address: undefined });
    expect(currentActor()).toBeUndefined();
  });

  test("transfers the trace and the deadline", async () => {
    await withServerSpan("test", undefined, {}, () =>
      runWithDeadline(Date.now() + 3000, async () => {
        await client.lockWorkspace({ workspaceId: "ws-1" }, gateway.on(user));
        expect(seen.at(-1)?.trace).toBe(traceId());
        expect(seen.at(-1)?.remaining).toBeLessThanOrEqual(3000);
      }),
    );
  });

  test("transfers an error with kind, code and non-ASCII text", async () => {
    expect(await failure("conflict")).toMatchObject({
      kind: "conflict",
      reason: "workspace_locked",
      message: "is locked by User Zoë",
    });
  });

  test("transfers every field of an invalid request", async () => {
    const error = await failure("invalid");
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ fields: [{ field: "name", detail: "Name is invalid" }] });
  });

  test("hides the cause of an internal error", async () => {
    const error = await failure("break");
    expect(error).not.toBeInstanceOf(AppError);
    expect(String(error)).not.toContain("secret");
  });

  test("ends with the caller's deadline", async () => {
    const error = await runWithDeadline(Date.now() + 100, () => failure("slow"));
    expect(error).toMatchObject({ kind: "deadlineExceeded" });
  });

  test("is refused if the method does not declare the caller", async () => {
    expect(await failure("", state)).toMatchObject({ kind: "forbidden" });
    await expect(client.getLock({ workspaceId: "ws-1" }, gateway.on(user))).rejects.toMatchObject({
      kind: "forbidden",
    });
    await expect(client.getLock({ workspaceId: "ws-1" }, state)).resolves.toBeDefined();
  });

  test.each([20, 50])("returns a response of %i MiB", async (mebibytes) => {
    const size = mebibytes * 1024 ** 2;
    const { placement } = await client.getPlacement({ workspaceId: String(size) }, state);
    expect(Buffer.byteLength(placement?.organizationId ?? "")).toBe(size);
  });

  test("transfers a request of 20 MiB and its large response once", async () => {
    const before = calls;
    const lineage = "ö".repeat(5 * 1024 ** 2);
    const jsonStateOutputs = new Uint8Array(10 * 1024 ** 2);
    const { stateVersion } = await createClient(StateVersionService, channel).createStateVersion(
      { workspaceId: "a", lineage, jsonStateOutputs },
      gateway.on(user),
    );
    expect(stateVersion?.lineage === `${lineage} ${jsonStateOutputs.length}`).toBe(true);
    expect(calls).toBe(before + 1);
    const missing = { workspaceId: "x".repeat(20 * 1024 ** 2) };
    const refused = client.getPlacement(missing, gateway.on(user));
    await expect(refused).rejects.toMatchObject({ kind: "forbidden" });
  });

  test("refuses a request above the limit of its method", async () => {
    const before = calls;
    // The tag and the length of the field occupy five bytes.
    const largest = { reason: `large ${"x".repeat(4 * 1024 ** 2 - 11)}` };
    await client.lockWorkspace(largest, gateway.on(user));
    const larger = client.lockWorkspace({ reason: `${largest.reason}x` }, gateway.on(user));
    await expect(larger).rejects.toMatchObject({ name: "MessageTooLarge" });
    expect(calls).toBe(before + 1);
  });

  const forged: Record<string, () => Promise<string>> = {
    missing: async () => "",
    altered: async () => {
      const good = await gateway.on(user).assertion("workspaces");
      const [header, payload, signature] = good.split(".");
      const claims = JSON.parse(Buffer.from(payload ?? "", "base64url").toString());
      const altered = Buffer.from(JSON.stringify({ ...claims, sub: "user-2" })).toString(
        "base64url",
      );
      return [header, altered, signature].join(".");
    },
    "for another audience": () => gateway.on(user).assertion("access"),
    "of a service that speaks for a user": () => state.on(user).assertion("workspaces"),
    expired: async () =>
      new SignJWT({ typ: "user", ver: "v1" })
        .setProtectedHeader({ alg: "EdDSA", kid: gatewayKey.privateJwk.kid ?? "" })
        .setIssuer("gateway")
        .setSubject("user-1")
        .setAudience("workspaces")
        .setExpirationTime(new Date(Date.now() - 60_000))
        .sign(await importJWK(gatewayKey.privateJwk, "EdDSA")),
    "signed by a stranger": async () => {
      const outsider = await generateAssertionKey();
      const jwk = { ...outsider.privateJwk, kid: gatewayKey.privateJwk.kid ?? "" };
      return (await createIdentity("gateway", jwk)).on(user).assertion("workspaces");
    },
  };
  test.each(Object.entries(forged))(
    "with an assertion that is %s is unauthenticated",
    async (_, make) => {
      const before = calls;
      const error = await failure("", { assertion: make });
      expect(error).toMatchObject({ kind: "unauthenticated" });
      expect(calls).toBe(before);
    },
  );
});

test("a response above the limit fails with MessageTooLarge", async () => {
  await using channel = grpcChannel({ address: `127.0.0.1:${port}`, audience: "workspaces" });
  const client = createClient(WorkspaceLockService, channel, state);
  const answer = client.getPlacement({ workspaceId: String(140 * 1024 ** 2) });
  await expect(answer).rejects.toMatchObject({ name: "MessageTooLarge" });
});

test("a call to a service that does not respond is unavailable, with the reason as its cause", async () => {
  await using channel = grpcChannel({ address: "127.0.0.1:1", audience: "workspaces" });
  const client = createClient(WorkspaceLockService, channel, state);
  await expect(
    runWithDeadline(Date.now() + 5000, () => client.getLock({ workspaceId: "ws-1" })),
  ).rejects.toMatchObject({
    kind: "unavailable",
    reason: "service_unavailable",
    cause: { message: expect.stringContaining("ECONNREFUSED") },
  });
});

test("a method that an earlier release does not have is unavailable", async () => {
  await using channel = grpcChannel({ address: `127.0.0.1:${port}`, audience: "workspaces" });
  const client = createClient(AdminService, channel, state);
  await expect(client.getGeneralSettings({})).rejects.toMatchObject({
    kind: "unavailable",
    reason: "method_unavailable",
  });
});

test("a call that must not be repeated waits for a service that restarts", async () => {
  const start = async (port: number) => {
    const started = createRpcServer({
      name: "workspaces",
      bindings: [binding],
      keys: { gateway: [gatewayKey.publicJwk] },
      context: async (principal) => ({ principal }),
      logger,
    });
    return { started, ...(await started.listen({ host: "127.0.0.1", port })) };
  };
  const first = await start(await freePort());
  await using channel = grpcChannel({
    address: `127.0.0.1:${first.port}`,
    audience: "workspaces",
  });
  const client = createClient(WorkspaceLockService, channel, gateway.on(user));
  await client.lockWorkspace({ workspaceId: "ws-1" });
  await first.started[Symbol.asyncDispose]();
  await expect(client.lockWorkspace({ workspaceId: "ws-1" })).rejects.toMatchObject({
    kind: "unavailable",
  });
  const back = await start(first.port);
  await expect(client.lockWorkspace({ workspaceId: "ws-1" })).resolves.toBeDefined();
  await back.started[Symbol.asyncDispose]();
});

test("during key rotation old and new keys are accepted; a removed key is refused", async () => {
  const next = await generateAssertionKey();
  const during = createRpcServer({
    name: "workspaces",
    bindings: [binding],
    keys: { gateway: [gatewayKey.publicJwk, next.publicJwk] },
    context: async (principal) => ({ principal }),
    logger,
  });
  const after = createRpcServer({
    name: "workspaces",
    bindings: [binding],
    keys: { gateway: [next.publicJwk] },
    context: async (principal) => ({ principal }),
    logger,
  });
  const old = gateway.on(user);
  const renewed = (await createIdentity("gateway", next.privateJwk)).on(user);
  const lock = (rpc: RpcServer, as: CallOptions) =>
    createClient(WorkspaceLockService, rpc.inProcess()).lockWorkspace({ workspaceId: "ws-1" }, as);
  await expect(lock(during, old)).resolves.toBeDefined();
  await expect(lock(during, renewed)).resolves.toBeDefined();
  await expect(lock(after, renewed)).resolves.toBeDefined();
  await expect(lock(after, old)).rejects.toMatchObject({ kind: "unauthenticated" });
});
