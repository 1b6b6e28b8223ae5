import { createPrivateKey, X509Certificate } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { service as access } from "@statehouse/access/service";
import { service as gateway } from "@statehouse/gateway/service";
import { readConfig } from "@statehouse/runtime";
import { service as state } from "@statehouse/state/service";
import { temporaryFolder } from "@statehouse/testing";
import { service as workspaces } from "@statehouse/workspaces/service";
import { beforeAll, expect, test } from "vitest";
import type { z } from "zod";
import { runKeys } from "../commands/keys.ts";
import { readMaterial } from "../keys/material.ts";
import { consumers } from "../keys/nats-users.ts";
import { valuesOf } from "../keys/settings.ts";
import { statehouse } from "./statehouse.ts";

const schemas: Readonly<Record<string, z.ZodObject>> = {
  access: access.config,
  workspaces: workspaces.config,
  state: state.config,
  gateway: gateway.config,
};
const names = Object.keys(schemas);

/** Runs the command in this process and returns its output. Throws the error of the command. */
async function keys(...args: string[]): Promise<string> {
  const lines: string[] = [];
  await runKeys(args, (line) => void lines.push(`${line}\n`));
  return lines.join("");
}

/** Like `keys`, but in a separate process. Throws an error with what the process wrote to standard error. */
async function keysProcess(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await statehouse(["keys", ...args], {});
  if (code !== 0) throw new Error(stderr);
  return stdout;
}

let file: string;
let folder: string;
beforeAll(async () => {
  const temporary = await temporaryFolder();
  folder = temporary.path;
  file = path.join(folder, "keys.json");
  await keysProcess("new", file, "--runner", "runner", "--runner", "runner-b");
  return () => temporary[Symbol.asyncDispose]();
});

test("without an action the command prints its usage", async () => {
  expect(await keys()).toContain("keys new FILE");
});

test("each service and runner receives its own private keys and no others", async () => {
  const material = await readMaterial(file);
  const holders = [...names, "runner", "runner-b"];
  const secretsOf = (name: string) => [
    ...(material.assertions[name] ?? []).map(({ privateJwk }) => privateJwk.d),
    ...(material.nats[name] ?? []).map(({ seed }) => seed),
    ...(material.sealing[name] ?? []).map(({ key }) => key),
    JSON.stringify(material.certificates[name]?.privateKey).slice(1, -1),
    ...(name === "state" ? material.uploads.map(({ key }) => key) : []),
  ];
  for (const name of holders) {
    const printed = await keys("print", file, "--format", "kubernetes", "--service", name);
    const found = printed.replaceAll('\\"', '"');
    for (const other of holders) {
      for (const secret of secretsOf(other)) {
        expect(printed.includes(secret) || found.includes(secret), `${name} has ${other}`).toBe(
          name === other,
        );
      }
    }
    for (const { privateKey } of material.authority) {
      expect(printed).not.toContain(JSON.stringify(privateKey).slice(1, -1));
    }
  }
});

test("the values are valid settings, and every secret is created or comes from another system", async () => {
  const material = await readMaterial(file);
  const elsewhere = new Set([
    ...["DATABASE_URL", "S3_ACCESS_KEY", "S3_SECRET_KEY"],
    // These settings replace the nkeys if NATS uses other credentials.
    ...["NATS_PASSWORD", "NATS_TOKEN", "NATS_CREDENTIALS"],
  ]);
  for (const name of names) {
    const schema = schemas[name];
    const values = valuesOf(material, name);
    const secrets = Object.entries(schema?.shape ?? {}).flatMap(([setting, field]) =>
      field.meta()?.renewable === true ? [setting] : [],
    );
    expect(secrets.filter((setting) => !(setting in values) && !elsewhere.has(setting))).toEqual(
      [],
    );
    for (const [setting, value] of Object.entries(values)) {
      const field = schema?.shape[setting];
      if (field) expect(field.safeParse(value).success, `${name} ${setting}`).toBe(true);
      else expect(schema?.shape).toHaveProperty(`${setting}_FILE`);
    }
  }
});

test("certificates name their service, for server and client, and expire after a year", async () => {
  const { authority, certificates } = await readMaterial(file);
  const issuer = new X509Certificate(authority[0]?.certificate ?? "");
  expect(issuer.ca).toBe(true);
  for (const [name, { certificate, privateKey }] of Object.entries(certificates)) {
    const issued = new X509Certificate(certificate);
    expect(issued.subjectAltName).toBe(`DNS:${name}`);
    expect(issued.ca).toBe(false);
    expect(issued.checkIssued(issuer)).toBe(true);
    expect(issued.verify(issuer.publicKey)).toBe(true);
    expect(issued.checkPrivateKey(createPrivateKey(privateKey))).toBe(true);
    expect(issued.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]);
  }
});

test("files are readable for their owner only and name each setting of their service", async () => {
  const to = path.join(folder, "files");
  await keys("print", file, "--format", "files", "--to", to);
  expect((await readdir(to)).toSorted()).toEqual([
    ...["access", "gateway", "nats", "runner", "runner-b", "state", "workspaces"],
  ]);
  const files = (await readdir(to, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  for (const entry of files) {
    const { mode } = await stat(path.join(entry.parentPath, entry.name));
    expect(mode & 0o777, entry.name).toBe(0o600);
  }
  const lines = (await readFile(path.join(to, "state", "settings.env"), "utf8")).trimEnd();
  const environment = Object.fromEntries(lines.split("\n").map((line) => line.split("=")));
  const config = readConfig(state.config, {
    ...environment,
    DATABASE_URL: "postgresql://127.0.0.1/state",
    PUBLIC_URL: "https://state.example",
    BLOB_DIRECTORY: folder,
  });
  expect(config.SEALING_KEYS()).toMatch(/^k\w+:/);
  const env = await keys("print", file, "--format", "env", "--service", "state");
  expect(env).toContain(`SEALING_KEYS='${config.SEALING_KEYS()}'`);
  expect(env).not.toContain("-----BEGIN");
});

test("the file of all keys is never replaced by new ones", async () => {
  const before = await readFile(file, "utf8");
  await expect(keys("new", file)).rejects.toThrow(`The file ${file} already exists`);
  expect(await readFile(file, "utf8")).toBe(before);
});

test("a rotation has three steps in their order, each printed for every service", async () => {
  const own = path.join(folder, "rotated.json");
  await keys("new", own);
  const ring = async (service: string, setting: string) =>
    valuesOf(await readMaterial(own), service)[setting]?.split(",") ?? [];
  for (const kind of ["assertions", "uploads", "sealing", "nats", "authority"]) {
    await expect(keys("switch", kind, own)).rejects.toThrow(
      `The next step for ${kind} is "keys add`,
    );
    await expect(keys("remove", kind, own)).rejects.toThrow(
      `The next step for ${kind} is "keys add`,
    );
  }
  const [old] = await ring("state", "SEALING_KEYS");
  await keys("add", "sealing", own);
  await expect(keys("add", "sealing", own)).rejects.toThrow(`is "keys switch sealing"`);
  const added = await ring("state", "SEALING_KEYS");
  expect(added).toEqual([old, expect.any(String)]);
  await keys("switch", "sealing", own);
  expect(await ring("state", "SEALING_KEYS")).toEqual([added[1], old]);
  expect(await keys("list", own)).toContain("sealing: next step remove");
  await keys("remove", "sealing", own);
  expect(await ring("state", "SEALING_KEYS")).toEqual([added[1]]);

  const certificate = async () => valuesOf(await readMaterial(own), "access");
  const first = await certificate();
  await keys("add", "authority", own);
  const second = await certificate();
  expect(second.GRPC_CA?.split("BEGIN CERTIFICATE")).toHaveLength(3);
  expect(second.GRPC_CERT).toBe(first.GRPC_CERT);
  await keys("switch", "authority", own);
  const third = await certificate();
  expect(third.GRPC_CERT).not.toBe(first.GRPC_CERT);
  await keys("remove", "authority", own);
  const { authority, certificates } = await readMaterial(own);
  expect(
    new X509Certificate(certificates.access?.certificate ?? "").verify(
      new X509Certificate(authority[0]?.certificate ?? "").publicKey,
    ),
  ).toBe(true);
});

test("wrong arguments are explained in one sentence", async () => {
  await expect(keysProcess("fly", file)).rejects.toThrow(
    "Action 'fly' is unknown; expected one of new,",
  );
  await expect(keysProcess("add", "all", file)).rejects.toThrow(
    "Kind 'all' is unknown; expected one of",
  );
  await expect(keysProcess("add", "nats")).rejects.toThrow("The file with the keys is required");
  await expect(keysProcess("list", path.join(folder, "none"))).rejects.toThrow("does not exist");
  await expect(keysProcess("new", path.join(folder, "x"), "--runner", "gateway")).rejects.toThrow(
    "The name of a runner must be",
  );
  await expect(keysProcess("print", file, "--format", "env")).rejects.toThrow(
    "--service is required",
  );
});

test("a subscriber receives its own nkey and nothing else, and the services create its consumer", async () => {
  const own = path.join(folder, "subscribers.json");
  const print = (name: string) => keys("print", own, "--format", "env", "--service", name);
  await keys("new", own);
  await keys("subscriber", own, "--name", "search", "--filter", "statehouse.>");
  await keys("subscriber", own, "--name", "billing", "--organization", "org-1");
  await keys("subscriber", own, "--name", "mail", "--mail");
  await expect(keys("subscriber", own, "--name", "letters", "--mail")).rejects.toThrow(
    "The subscriber mail already receives the mail",
  );
  await keys("subscriber", own, "--name", "mail", "--mail");
  const { nats, subscribers } = await readMaterial(own);
  expect(subscribers).toEqual({
    search: { filter: "statehouse.>" },
    billing: { filter: "statehouse.*.*.*.*.org-1" },
    mail: { filter: "statehouse-mail.>" },
  });
  expect(await print("billing")).toBe(`NATS_NKEY_SEED='${nats.billing?.[0]?.seed}'\n`);
  const declared = [
    "search=statehouse.>",
    "billing=statehouse.*.*.*.*.org-1",
    "mail=statehouse-mail.>",
  ].join(",");
  for (const name of ["access", "workspaces", "state"]) {
    expect(await print(name)).toContain(`EVENT_SUBSCRIBERS='${declared}'`);
  }
  const manifests = await keys("print", own, "--format", "kubernetes", "--service", "billing");
  expect(manifests.match(/kind: .*/g)).toEqual(["kind: Secret"]);
  // Changing a subscriber's filter does not change its nkey.
  await keys("subscriber", own, "--name", "search", "--filter", "statehouse.state.>");
  const changed = await readMaterial(own);
  expect(changed.subscribers.search).toEqual({ filter: "statehouse.state.>" });
  expect(changed.nats).toEqual(nats);
  await keys("subscriber", own, "--name", "search", "--delete");
  const removed = await readMaterial(own);
  expect(Object.keys(removed.subscribers)).toEqual(["billing", "mail"]);
  expect(removed.nats).not.toHaveProperty("search");
});

test.for([
  [
    ["--name", "state-updated", "--mail"],
    "The name of a subscriber must begin with a lower-case letter",
  ],
  [["--name", "runner", "--mail"], "The name of a subscriber must begin with a lower-case letter"],
  [["--name", "a", "--filter", "other.>"], "The filter of a subscriber must be a subject"],
  [["--name", "a", "--filter", "statehouse.>,b=statehouse.>"], "The filter of a subscriber must"],
  [
    ["--name", "a", "--filter", "statehouse.>", "--mail"],
    "Exactly one of --organization, --filter and",
  ],
  [["--name", "a", "--delete"], "There is no subscriber a."],
] as const)("the subscriber %s is refused", async ([args, message]) => {
  await expect(keys("subscriber", file, ...args)).rejects.toThrow(message);
});

test("the users of NATS may use the subjects of every consumer of their service", () => {
  for (const { name, consumers: of } of [access, workspaces, state]) {
    expect(consumers[name]).toEqual(of(Object.create(null)).map((consumer) => consumer.name));
  }
});
