import { randomBytes, randomUUID, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { connect } from "node:tls";
import { AuthenticationService } from "@statehouse/proto/statehouse/access/v1/authentication";
import { createClient, createIdentity, grpcChannel, openGrpcTls } from "@statehouse/rpc";
import {
  type MinioAddress,
  needs,
  ownNats,
  sharedDependencies,
  temporaryFolder,
  waitFor,
} from "@statehouse/testing";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DeployedKeys, newDeployedKeys, runStatehouse } from "../stack/deployed-keys.ts";
import { type Api, api, document, download, upload } from "../stack/http.ts";
import { addMinioUser, removeMinioUser } from "../stack/minio-users.ts";
import { newOrganization } from "../stack/organization.ts";
import { type DatabaseName, type ProcessStack, startProcesses } from "../stack/stack.ts";
import { announcement, expectStatus, stateFile } from "../stack/state.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";

const databaseNames: readonly DatabaseName[] = ["access", "workspaces", "state"];
const password = () => randomBytes(16).toString("hex");

async function asAdministrator(url: string, ...statements: string[]): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Sends requests of all kinds while keys change, and records every failed request. */
interface Traffic extends AsyncDisposable {
  readonly failures: readonly string[];
  /** Waits until each kind of request has succeeded again several times. */
  more(): Promise<void>;
}

/**
 * Starts three loops of requests that together need all keys: for upload URLs, sealed columns, assertions, the
 * databases and the object store.
 */
async function startTraffic(client: Api, token: string, organization: string): Promise<Traffic> {
  const failures: string[] = [];
  const counts = new Map<string, number>();
  let stopped = false;
  const states = (await newWorkspaceIn(client, organization)).id;
  const shown = (await newWorkspaceIn(client, organization)).id;
  let serial = 0;
  const lineage = randomUUID();

  const loops: Record<string, () => Promise<unknown>> = {
    read: () => expectStatus(200, client.get(`/workspaces/${shown}`)),
    async write() {
      serial += 1;
      const secret = { value: `secret-${serial}`, type: "string", sensitive: true };
      const state = stateFile({ serial, lineage, outputs: { secret } });
      const outputs = Buffer.from(JSON.stringify({ secret })).toString("base64");
      await expectStatus(200, client.post(`/workspaces/${states}/actions/lock`));
      const body = announcement(state, { "json-state-outputs": outputs });
      const path = `/workspaces/${states}/state-versions`;
      const { data } = (await expectStatus(201, client.post(path, body))).body;
      await expectStatus(200, upload(data.attributes["hosted-state-upload-url"], state.bytes));
      await expectStatus(200, client.post(`/workspaces/${states}/actions/unlock`));
      const current = await expectStatus(
        200,
        client.get(`/workspaces/${states}/current-state-version-outputs`),
      );
      const [output] = current.body.data;
      const clear = await expectStatus(200, client.get(`/state-version-outputs/${output.id}`));
      expect(clear.body.data.attributes.value).toBe(secret.value);
      const version = await expectStatus(200, client.get(`/state-versions/${data.id}`));
      const url = version.body.data.attributes["hosted-state-download-url"];
      expect((await download(url, token)).bytes.equals(state.bytes)).toBe(true);
    },
    async sshKeys() {
      const made = client.post(
        `/organizations/${organization}/ssh-keys`,
        document("ssh-keys", { name: "deploy", value: "private" }),
      );
      const { id } = (await expectStatus(201, made)).body.data;
      await expectStatus(204, client.delete(`/ssh-keys/${id}`));
    },
  };
  const running = Object.entries(loops).map(async ([name, once]) => {
    while (!stopped) {
      try {
        await once();
        counts.set(name, (counts.get(name) ?? 0) + 1);
      } catch (error) {
        failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
        return;
      }
    }
  });
  return {
    failures,
    async more() {
      const goals = Object.keys(loops).map((name) => [name, (counts.get(name) ?? 0) + 3] as const);
      await waitFor(
        () => failures.length > 0 || goals.every(([name, goal]) => (counts.get(name) ?? 0) >= goal),
        { what: "more requests" },
      );
      expect(failures).toEqual([]);
    },
    async [Symbol.asyncDispose]() {
      stopped = true;
      await Promise.all(running);
    },
  };
}

/**
 * The time limit is long, because each step starts the command-line program and waits for four processes and for
 * requests.
 */
const options = { timeout: 300_000 };

needs("nats-server", "minio")("while requests run, and no request fails,", () => {
  let stack: ProcessStack;
  let deployed: DeployedKeys;
  let traffic: Traffic;
  let nats: Awaited<ReturnType<typeof ownNats>>;
  let client: Api;
  let organization: string;
  let token: string;
  let minio: MinioAddress;
  const owned = new AsyncDisposableStack();
  const suffix = randomBytes(6).toString("hex");
  const administrator = () => sharedDependencies().postgres.url;

  const roleUrl = (name: DatabaseName, role: string): string => {
    const url = new URL(stack.databases[name]);
    url.username = role;
    url.password = role;
    return url.href;
  };
  /** Creates a role that may read and write the rows of all three databases. */
  const newRole = async (role: string, databases: Record<DatabaseName, string>) => {
    await asAdministrator(administrator(), `create role ${role} login password '${role}'`);
    for (const name of databaseNames) {
      await runStatehouse(["migrate", name], {
        MIGRATE_DATABASE_URL: databases[name],
        MIGRATE_GRANT_TO: role,
      });
    }
  };
  const deploy = () => deployed.deploy(stack.processes);
  /** Runs the step `add`, `switch` or `remove` of a rotation, and waits until requests have succeeded after it. */
  const step = async (name: string, kind: string) => {
    await deployed.keys(name, kind);
    await deploy();
    await traffic.more();
  };

  beforeAll(async () => {
    const folder = owned.use(await temporaryFolder()).path;
    deployed = await newDeployedKeys(folder);
    nats = owned.use(await ownNats());
    const started = await startProcesses({
      blobs: "minio",
      settings: { LOG_LEVEL: "info" },
      rewire: async (environments) => {
        const { state } = environments;
        minio = {
          endpoint: state.S3_ENDPOINT ?? "",
          region: state.S3_REGION ?? "",
          accessKey: state.S3_ACCESS_KEY ?? "",
          secretKey: state.S3_SECRET_KEY ?? "",
        };
        const user = { S3_ACCESS_KEY: `first${suffix}`, S3_SECRET_KEY: password() };
        await addMinioUser(minio, user.S3_ACCESS_KEY, user.S3_SECRET_KEY);
        deployed.set("state", user);
        for (const name of databaseNames) {
          deployed.set(name, { DATABASE_URL: environments[name].DATABASE_URL ?? "" });
        }
        await deployed.useFiles(environments);
        nats.reload(await deployed.natsUsers());
        for (const environment of Object.values(environments)) {
          delete environment.NATS_USER;
          delete environment.NATS_PASSWORD;
          environment.NATS_URL = nats.url;
        }
      },
    });
    stack = owned.use(started);
    const first = `first_${suffix}`;
    await newRole(first, stack.databases);
    for (const name of databaseNames) deployed.set(name, { DATABASE_URL: roleUrl(name, first) });
    await deploy();
    const DATABASE_URL = stack.databases.access;
    await runStatehouse(["user", "create", "owner", "owner@example.com"], { DATABASE_URL });
    token = (await runStatehouse(["user", "token", "owner"], { DATABASE_URL })).trim();
    client = api(stack.url, token);
    organization = await waitFor(() => newOrganization(client));
    traffic = owned.use(await startTraffic(client, token, organization));
    await traffic.more();
  });
  afterAll(async () => {
    await owned.disposeAsync();
    for (const role of [`first_${suffix}`, `second_${suffix}`]) {
      await asAdministrator(administrator(), `drop role if exists ${role}`).catch(() => {});
    }
  });

  /** Calls the access service as the gateway: with its certificate, and with the assertion key `privateKey`. */
  const callAsGateway = async (privateKey: string) => {
    const tls = {
      caFile: deployed.file("gateway", "GRPC_CA"),
      certFile: deployed.file("gateway", "GRPC_CERT"),
      keyFile: deployed.file("gateway", "GRPC_KEY"),
    };
    const opened = openGrpcTls(tls);
    const address = `127.0.0.1:${stack.environments.access.GRPC_PORT}`;
    await using channel = grpcChannel({ address, audience: "access", tls: opened });
    const identity = await createIdentity("gateway", JSON.parse(privateKey));
    return await createClient(AuthenticationService, channel, identity).authenticate({ token });
  };

  test("assertion keys are rotated", options, async () => {
    const old = await deployed.read("gateway", "ASSERTION_PRIVATE_KEY");
    await callAsGateway(old);
    await step("add", "assertions");
    await step("switch", "assertions");
    await callAsGateway(old);
    await step("remove", "assertions");
    await expect(callAsGateway(old)).rejects.toMatchObject({ kind: "unauthenticated" });
    await callAsGateway(await deployed.read("gateway", "ASSERTION_PRIVATE_KEY"));
  });

  test(
    "keys of upload URLs are rotated, and URLs of the old key are valid until it is removed",
    options,
    async () => {
      const pending = async () => {
        const { id } = await newWorkspaceIn(client, organization);
        await expectStatus(200, client.post(`/workspaces/${id}/actions/lock`));
        const state = stateFile();
        const path = `/workspaces/${id}/state-versions`;
        const { data } = (await expectStatus(201, client.post(path, announcement(state)))).body;
        const url: string = data.attributes["hosted-state-upload-url"];
        return { state, url };
      };
      await step("add", "uploads");
      const [first, second] = [await pending(), await pending()];
      await step("switch", "uploads");
      await expectStatus(200, upload(first.url, first.state.bytes));
      await step("remove", "uploads");
      await expectStatus(404, upload(second.url, second.state.bytes));
    },
  );

  test(
    "keys of sealed columns are rotated, with rotate-keys while the services run",
    options,
    async () => {
      const kept = client.post(
        `/organizations/${organization}/ssh-keys`,
        document("ssh-keys", { name: "kept", value: "private" }),
      );
      await expectStatus(201, kept);
      await step("add", "sealing");
      await step("switch", "sealing");
      for (const [name, table] of [
        ["workspaces", "ssh_keys"],
        ["state", "state_version_outputs"],
      ] as const) {
        const SEALING_KEYS_FILE = deployed.file(name, "SEALING_KEYS");
        const settings = { DATABASE_URL: stack.databases[name], SEALING_KEYS_FILE };
        const printed = await runStatehouse(["rotate-keys", name], settings);
        expect(printed).toMatch(/^re-encrypted [1-9]\d* values\n$/);
        const [current = ""] = (await deployed.read(name, "SEALING_KEYS")).split(":");
        const rows = await stack.rows<{ key: string }>(
          name,
          `select distinct split_part(sealed_value, ':', 1) as key from ${table} where sealed_value is not null`,
        );
        expect(rows).toEqual([{ key: current }]);
      }
      await step("remove", "sealing");
    },
  );

  test("nkeys of NATS are rotated, and events are still published", options, async () => {
    await deployed.keys("add", "nats");
    await deploy();
    nats.reload(await deployed.natsUsers());
    await step("switch", "nats");
    await deployed.keys("remove", "nats");
    await deploy();
    nats.reload(await deployed.natsUsers());
    await traffic.more();
    for (const name of databaseNames) {
      const port = stack.environments[name].OPS_PORT;
      await waitFor(
        async () => {
          const ready = await (await fetch(`http://127.0.0.1:${port}/readyz?verbose`)).text();
          const { dependencies }: { dependencies: Record<string, { status: string }> } =
            JSON.parse(ready);
          return dependencies.nats?.status === "ok";
        },
        { what: `${name} to be connected to NATS` },
      );
    }
    const { id } = await newWorkspaceIn(client, organization);
    await waitFor(
      async () =>
        (await stack.rows("workspaces", "select from outbox where subject = $1", [id])).length ===
        0,
      { what: "the event to be published" },
    );
  });

  test("the authority and all certificates are rotated", options, async () => {
    const address = {
      host: "127.0.0.1",
      port: Number(stack.environments.access.GRPC_PORT),
      servername: "access",
      ALPNProtocols: ["h2"],
    };
    /** Connects to the access service with `ca`, `cert` and `key`. Returns the issuer of the service's certificate. */
    const issuer = (ca: Buffer, cert: Buffer, key: Buffer) =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({
          ...address,
          ca,
          cert,
          key,
          minVersion: "TLSv1.2",
          maxVersion: "TLSv1.2",
        });
        socket.once("secureConnect", () => {
          resolve(new X509Certificate(socket.getPeerCertificate().raw).issuer);
          socket.destroy();
        });
        socket.once("error", reject);
      });
    const files = async () => {
      const [ca, cert, key] = await Promise.all(
        ["GRPC_CA", "GRPC_CERT", "GRPC_KEY"].map((name) =>
          readFile(deployed.file("gateway", name)),
        ),
      );
      if (!ca || !cert || !key) throw new Error("a file is missing");
      return { ca, cert, key };
    };
    const old = await files();
    const before = await issuer(old.ca, old.cert, old.key);
    await step("add", "authority");
    await step("switch", "authority");
    await step("remove", "authority");
    const current = await files();
    const after = await issuer(current.ca, current.cert, current.key);
    expect(after).not.toBe(before);
    await expect(issuer(current.ca, old.cert, old.key)).rejects.toThrow();
    await expect(issuer(old.ca, current.cert, current.key)).rejects.toThrow();
    await traffic.more();
  });

  test("the database users are replaced, and the old ones can be dropped", options, async () => {
    const [first, second] = [`first_${suffix}`, `second_${suffix}`];
    await newRole(second, stack.databases);
    for (const name of databaseNames) deployed.set(name, { DATABASE_URL: roleUrl(name, second) });
    await deploy();
    await traffic.more();
    const sessions = async () => {
      const sql = "select from pg_stat_activity where usename = $1";
      return (await stack.rows("access", sql, [first])).length;
    };
    await waitFor(async () => (await sessions()) === 0, { what: "the old sessions to end" });
    for (const name of databaseNames) {
      await asAdministrator(stack.databases[name], `drop owned by ${first}`);
    }
    await asAdministrator(administrator(), `drop role ${first}`);
    await traffic.more();
  });

  test(
    "the keys of the object store are replaced, and the old ones can be deleted",
    options,
    async () => {
      const user = { S3_ACCESS_KEY: `second${suffix}`, S3_SECRET_KEY: password() };
      await addMinioUser(minio, user.S3_ACCESS_KEY, user.S3_SECRET_KEY);
      deployed.set("state", user);
      await deploy();
      await traffic.more();
      await removeMinioUser(minio, `first${suffix}`);
      await traffic.more();
      await removeMinioUser(minio, user.S3_ACCESS_KEY);
      await waitFor(() => traffic.failures.length > 0, { what: "requests without keys to fail" });
    },
  );
});
