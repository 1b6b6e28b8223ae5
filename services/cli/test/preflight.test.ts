import { writeFile } from "node:fs/promises";
import path from "node:path";
import { freshDatabase, setServerVersion } from "@statehouse/postgres/testing";
import { migrations } from "@statehouse/state/migrations";
import { openDirectoryStore } from "@statehouse/state/object/directory-store";
import {
  needs,
  newAuthority,
  newKeyRing,
  newServiceCertificates,
  newServiceKeys,
  ownNats,
  sharedDependencies,
  temporaryFolder,
} from "@statehouse/testing";
import { expect, test } from "vitest";
import { statehouse } from "./statehouse.ts";

async function writtenTo(file: string, content: string): Promise<string> {
  await writeFile(file, content);
  return file;
}

needs("nats-server")("preflight", () => {
  test("examines settings, keys, database, NATS and store, and reports each problem", async () => {
    await using stack = new AsyncDisposableStack();
    const fresh = stack.use(await freshDatabase({ contextName: "state", migrations }));
    const folder = stack.use(await temporaryFolder()).path;
    await (await openDirectoryStore(folder))[Symbol.asyncDispose]();
    const certificates = stack.use(await newServiceCertificates("state", "gateway"));
    const { settingsOf } = await newServiceKeys("state", "gateway");
    const valid = {
      ...settingsOf("state"),
      ...certificates.settingsOf("state"),
      DATABASE_URL: fresh.url,
      NATS_URL: sharedDependencies().nats.url,
      PUBLIC_URL: "https://state.example",
      UPLOAD_TOKEN_KEYS: newKeyRing(),
      SEALING_KEYS: newKeyRing(),
      BLOB_STORE: "directory",
      BLOB_DIRECTORY: folder,
    };
    const run = async (changes: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await statehouse(["preflight", "state"], {
        ...valid,
        ...changes,
      });
      expect(stderr).toBe("");
      return { code, lines: stdout.trimEnd().split("\n") };
    };
    expect(await run()).toEqual({
      code: 0,
      lines: [
        ...["settings: ok", "keys: ok", "gRPC TLS: ok"],
        ...["database: ok", "NATS: ok"],
        "object store: ok",
      ],
    });

    await fresh.query(
      `insert into workspace_states (workspace_id, placement_version, sealed_epoch,
         current_position, resource_count, revision) values ('ws-1', 0, 0, 0, 0, 0)`,
    );
    await fresh.query(
      `insert into state_versions (id, workspace_id, position, lock_epoch, serial, md5, lineage,
         status, intermediate, created_at, created_by_type, created_by_id, expires_at,
         outputs_given, resources_processed, resource_count, extraction_attempts)
       values ('sv-1', 'ws-1', 1, 1, 1, '', '', 'pending', false, now(), 'user', 'user-1', now(),
         false, true, 0, 0)`,
    );
    await fresh.query(
      `insert into state_version_outputs
         (id, state_version_id, position, name, sensitive, type, detailed_type, sealed_value)
       values ('wsout-1', 'sv-1', 0, 'o', true, 'string', '"string"', 'lost:AAAA')`,
    );
    const gateway = certificates.settingsOf("gateway");
    const wrong = await run({
      ...settingsOf("gateway"),
      ...gateway,
      NATS_URL: "nats://127.0.0.1:1",
      BLOB_DIRECTORY: `${folder}/none`,
    });
    expect(wrong.code).toBe(1);
    expect(wrong.lines).toEqual([
      "settings: ok",
      expect.stringMatching(/^keys: failed: ASSERTION_PUBLIC_KEYS does not contain the key /),
      "gRPC TLS: failed: the certificate of GRPC_CERT_FILE does not have the DNS name state",
      "database: failed: SEALING_KEYS lacks lost, which encrypt values of state_version_outputs",
      expect.stringMatching(/^NATS: failed: /),
      expect.stringMatching(/^object store: failed: Cannot keep state contents in /),
    ]);

    const nats = await (await newAuthority()).issue("localhost");
    const tls = {
      cert_file: await writtenTo(path.join(folder, "nats-cert"), nats.certificate),
      key_file: await writtenTo(path.join(folder, "nats-key"), nats.privateKey),
    };
    const untrusted = stack.use(await ownNats({ configuration: `tls ${JSON.stringify(tls)}` }));
    const address = `nats://localhost:${untrusted.port}`;
    expect((await run({ NATS_URL: address, NATS_TLS: "on" })).lines).toContain(
      "NATS: failed: the certificate of the server is signed by an authority that is not trusted here; set NATS_CA_FILE to a file with that authority's certificate",
    );

    const soon = await newAuthority({ days: 5 });
    await certificates.trust(certificates.authority, soon);
    await certificates.issue("state", soon);
    expect((await run()).lines).toContain("gRPC TLS: the certificate expires in 4 days");

    await fresh.query("delete from schema_migrations where name = '0001_baseline'");
    expect((await run()).lines).toContain("database: migrate will apply 0001_baseline");
    await setServerVersion(fresh, "16.4");
    expect((await run()).lines).toContain(
      "database: failed: The server is PostgreSQL 16.4; Statehouse needs PostgreSQL 17 or newer.",
    );
    const nowhere = await run({ DATABASE_URL: "postgresql://x@127.0.0.1:1/x" });
    expect(nowhere.lines[3]).toMatch(/^database: failed: /);
  });
});

test("preflight reports every invalid setting", async () => {
  const { code, stdout, stderr } = await statehouse(["preflight", "gateway"], { PORT: "x" });
  expect(code).toBe(1);
  expect(stdout).toBe("");
  expect(stderr).toMatch(/^PORT: /);
  expect(stderr).toContain("ASSERTION_PRIVATE_KEY: is required but not set");
});
