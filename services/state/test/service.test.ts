import { randomUUID } from "node:crypto";
import { type Published, published, recordEvent } from "@statehouse/events";
import { openDatabase } from "@statehouse/postgres";
import { StateVersionService } from "@statehouse/proto/statehouse/state/v1/state_version";
import { StateVersionOutputService } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import {
  WorkspaceDeletedSchema,
  WorkspaceUpdatedSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/events";
import { createClient, grpcChannel } from "@statehouse/rpc";
import { readConfig } from "@statehouse/runtime";
import { ownNats, temporaryFolder, waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { configSchema } from "../config.ts";
import { migrations } from "../migrations.ts";
import { entities } from "../nouns.ts";
import { service as stateService } from "../service.ts";
import { install } from "./installation.ts";
import { md5Of } from "./running-state.ts";
import { organizationId, owner } from "./service-fakes.ts";

let stack: AsyncDisposableStack;
let service: Awaited<ReturnType<typeof runService>>;
beforeAll(async () => {
  stack = new AsyncDisposableStack();
  service = await runService(stack);
});
afterAll(() => stack.disposeAsync());

/** Starts the complete service, with gRPC, ops and object ports that the system chooses. */
async function runService(stack: AsyncDisposableStack) {
  const folder = stack.use(await temporaryFolder());
  // A separate NATS, because services with the same name share the stream's durable consumer.
  const nats = stack.use(await ownNats());
  const environment = {
    NATS_URL: nats.url,
    BLOB_DIRECTORY: folder.path,
    HOST: "127.0.0.1",
    GRPC_PORT: "0",
    OPS_PORT: "0",
    OBJECT_PORT: "0",
  };
  const installation = stack.use(await install({ environment }));
  const { config, fakes, logger, identities } = installation;
  const running = stack.use(await stateService.start(config, { channels: fakes.channels, logger }));
  const database = stack.use(
    await openDatabase({
      contextName: "test",
      url: config.DATABASE_URL,
      entities,
      migrations,
      logger,
    }),
  );
  const { ports } = running;
  if (!ports) throw new Error("the service opened no ports");
  const channel = stack.use(grpcChannel({ address: `127.0.0.1:${ports.grpc}`, audience: "state" }));
  const as = identities.gateway.on(owner);
  return {
    config,
    ports,
    fakes,
    database,
    versions: createClient(StateVersionService, channel, as),
    outputs: createClient(StateVersionOutputService, channel, as),
    lockedWorkspace() {
      const id = `ws-${randomUUID().replaceAll("-", "").slice(0, 16)}`;
      fakes.place(id);
      fakes.lock(id, owner, 10n);
      return id;
    },
  };
}

const stateFile = JSON.stringify({
  version: 4,
  terraform_version: "1.11.0",
  serial: 1,
  lineage: "a",
  outputs: { greeting: { value: "hello", type: "string" } },
  resources: [],
});

async function upload(workspaceId: string) {
  const { stateVersion } = await service.versions.createStateVersion({
    workspaceId,
    serial: 1n,
    lineage: "a",
    md5: md5Of(stateFile),
  });
  const url = new URL(stateVersion?.uploadUrl ?? "");
  return fetch(`http://127.0.0.1:${service.ports.objects}${url.pathname}`, {
    method: "PUT",
    body: stateFile,
  });
}

test("a single service stores a state over its listeners, extracts its outputs and returns it", async () => {
  const workspaceId = service.lockedWorkspace();
  expect((await upload(workspaceId)).status).toBe(200);
  const { outputs } = await waitFor(() => service.outputs.listCurrentOutputs({ workspaceId }));
  expect(outputs).toMatchObject([{ name: "greeting", valueJson: '"hello"' }]);
  const { stateVersion } = await service.versions.getCurrentStateVersion({ workspaceId });
  expect(stateVersion).toMatchObject({ engineVersion: "1.11.0", formatVersion: 4 });
  const { pathname } = new URL(stateVersion?.downloadUrl ?? "");
  const address = `http://127.0.0.1:${service.ports.objects}${pathname}`;
  const answer = await fetch(address, { headers: { authorization: `Bearer ${owner.id}` } });
  expect(await answer.text()).toBe(stateFile);
  expect((await fetch(address)).status).toBe(401);
});

test("readiness reports each dependency", async () => {
  const ready = await waitFor(async () => {
    const answer = await fetch(`http://127.0.0.1:${service.ports.ops}/readyz?verbose`);
    return answer.status === 200 && answer;
  });
  const ok = { status: "ok" };
  expect(await ready.json()).toMatchObject({
    dependencies: { blobs: ok, database: ok, nats: ok },
  });
});

test("events of the workspaces service replace calls that a crash prevented", async () => {
  const workspaceId = service.lockedWorkspace();
  await upload(workspaceId);
  const publish = (event: Published) =>
    service.database.transaction((em) => recordEvent(em, event));
  const read = () =>
    service.versions.getCurrentStateVersion({ workspaceId }).then(
      () => "readable",
      ({ kind }: { kind: string }) => kind,
    );
  const row = async () =>
    (
      await service.database.query<{ project_id: string; purged_at: Date | null }>(
        `select organization_id, project_id, placement_version, purged_at
         from workspace_states where workspace_id = $1`,
        [workspaceId],
      )
    )[0];
  expect(await read()).toBe("readable");
  service.fakes.place(workspaceId, "prj-2", 7n);
  // The values in the event are ignored; the state service applies the response of the workspaces service instead.
  const forged = {
    ...{ workspaceId, organizationId: "org-forged", projectId: "prj-forged" },
    ...{ placementVersion: 8_999_999_999_999_999n, revision: 1n },
  };
  await publish(published(WorkspaceUpdatedSchema, workspaceId, forged, {}));
  await waitFor(async () => (await row())?.project_id === "prj-2");
  expect(await row()).toMatchObject({ organization_id: organizationId, placement_version: 7 });
  service.fakes.delete(workspaceId);
  await publish(
    published(WorkspaceDeletedSchema, workspaceId, { workspaceId, organizationId, revision: 1n }),
  );
  await waitFor(async () => (await read()) === "notFound");
  await waitFor(async () => (await row())?.purged_at);
  const deletions = () => service.database.query("select from blob_deletions");
  await waitFor(async () => (await deletions()).length === 0);
});

test("all missing variables are reported", () => {
  const problems = configSchema.safeParse({}).error?.issues.map(({ path }) => path[0]);
  expect(problems).toEqual(
    expect.arrayContaining(["DATABASE_URL", "PUBLIC_URL", "SEALING_KEYS", "UPLOAD_TOKEN_KEYS"]),
  );
});

test("an invalid environment is reported with all problems, including keys and store", () => {
  const short = `k1:${Buffer.alloc(16).toString("base64")}`;
  const environment = {
    BLOB_STORE: "s3",
    UPLOAD_TOKEN_KEYS: short,
    SEALING_KEYS: short,
    HOST: "x",
  };
  let lines: string[] = [];
  try {
    readConfig(configSchema, environment);
  } catch (error) {
    lines = String(error instanceof Error && error.message).split("\n");
  }
  expect(lines.map((line) => line.split(":")[0])).toEqual([
    "DATABASE_URL",
    "PUBLIC_URL",
    "ASSERTION_PRIVATE_KEY",
    "ASSERTION_PUBLIC_KEYS",
    "UPLOAD_TOKEN_KEYS",
    "SEALING_KEYS",
    "GRPC_CA_FILE",
    "GRPC_CERT_FILE",
    "GRPC_KEY_FILE",
    "S3_ENDPOINT",
    "S3_BUCKET",
    "S3_ACCESS_KEY",
    "S3_SECRET_KEY",
  ]);
  expect(lines).toContain("SEALING_KEYS: the key k1 has 16 bytes and must have 32");
});
