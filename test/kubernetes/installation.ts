import path from "node:path";
import process from "node:process";
import type { ServiceName } from "@statehouse/standalone/environments";
import { temporaryFolder } from "@statehouse/testing";
import { Client } from "pg";
import { parseAllDocuments } from "yaml";
import { type Cluster, run } from "./kubectl.ts";
import type { Stores } from "./stores.ts";

const main = path.resolve(import.meta.dirname, "../../services/cli/main.ts");

/** Creates the namespace, which admits only pods that meet the profile "restricted". */
export async function createNamespace({ namespace, kubectl }: Cluster): Promise<void> {
  await kubectl("create", "namespace", namespace);
  await kubectl("label", "namespace", namespace, "pod-security.kubernetes.io/enforce=restricted");
}

/** Creates an empty database for each service that needs one; returns their addresses. */
export async function createDatabases(
  postgres: string,
  prefix: string,
): Promise<Record<Exclude<ServiceName, "gateway">, string>> {
  const at = (database: string) => Object.assign(new URL(postgres), { pathname: database }).href;
  const client = new Client({ connectionString: at("postgres") });
  await client.connect();
  try {
    const create = async (service: string) => {
      const name = `${prefix}_${service}`.replaceAll("-", "_");
      await client.query(`create database ${name}`);
      return at(name);
    };
    return {
      access: await create("access"),
      workspaces: await create("workspaces"),
      state: await create("state"),
    };
  } finally {
    await client.end();
  }
}

/** The parts of a Secret that tests read. */
export interface Secret {
  metadata: { name: string };
  stringData: Readonly<Record<string, string>>;
}

const secret = (name: string, stringData: Record<string, string>) => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name },
  stringData,
});

/** Returns the Secrets that examples/minimal.yaml and the defaults of the chart name. */
export async function newSecrets(
  { nats, s3 }: Pick<Stores, "nats" | "s3">,
  databases: Record<Exclude<ServiceName, "gateway">, string>,
): Promise<Secret[]> {
  await using folder = await temporaryFolder();
  const file = path.join(folder.path, "keys.json");
  const keys = (...args: string[]) => run(process.execPath, [main, "keys", ...args]);
  await keys("new", file);
  const printed = parseAllDocuments(await keys("print", file, "--format", "kubernetes"));
  return [
    ...printed.map((one): Secret => one.toJS()),
    ...Object.entries(databases).map(([name, uri]) =>
      secret(`statehouse-${name}-database`, { uri }),
    ),
    secret("statehouse-nats", {
      password: nats.password,
      ...(nats.ca && { "ca.crt": nats.ca }),
    }),
    secret("statehouse-s3", { accessKey: s3.accessKey, secretKey: s3.secretKey }),
  ];
}

interface Values extends Record<string, unknown> {
  settings: Record<string, string>;
}

/**
 * The values that an installation adds to examples/minimal.yaml. `callers` are the namespaces whose pods may call the
 * public ports.
 */
export function valuesOf(
  { nats, s3 }: Pick<Stores, "nats" | "s3">,
  {
    image,
    publicUrl,
    callers = [],
  }: { image: string; publicUrl: string; callers?: readonly string[] },
): Values {
  const [, repository, tag] = /^(.+):([^:/]+)$/.exec(image) ?? [];
  if (!repository) throw new Error(`The image ${image} has no tag.`);
  const port = (url: string) => Number(new URL(url).port);
  return {
    image: { repository, tag },
    settings: {
      PUBLIC_URL: publicUrl,
      NATS_URL: nats.url,
      NATS_USER: nats.user,
      S3_ENDPOINT: s3.endpoint,
      FIRST_ADMIN_USERNAME: "admin",
      FIRST_ADMIN_EMAIL: "admin@example.com",
    },
    settingsFrom: {
      NATS_PASSWORD: { existingSecret: { name: "statehouse-nats", key: "password" } },
      ...(nats.ca && {
        NATS_CA_FILE: { existingSecret: { name: "statehouse-nats", key: "ca.crt" } },
      }),
    },
    ...Object.fromEntries(
      ["access", "workspaces", "state"].map((service) => [
        service,
        { settingsFrom: { NATS_NKEY_SEED: null } },
      ]),
    ),
    networkPolicy: {
      objectStore: { ports: [port(s3.endpoint)] },
      ingressController: { namespaces: callers },
    },
  };
}
