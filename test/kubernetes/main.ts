// Installs the chart on the cluster of `KUBECONFIG` and uses it: `npm run test:kubernetes -- --help`.

import { writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { findProgram } from "@statehouse/local-services";
import { runCommand, StartError } from "@statehouse/runtime";
import { temporaryFolder, waitFor } from "@statehouse/testing";
import { Client } from "pg";
import { countOf } from "../bench/options.ts";
import { exampleFolder } from "../compat/example-folder.ts";
import { api } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { type Load, lostResponse, startLoad } from "../upgrade/load.ts";
import { examineConnections } from "./connections.ts";
import { crash } from "./crash.ts";
import { runDemo } from "./demo.ts";
import { dryRun } from "./dry-run.ts";
import { startEdgePod } from "./edge-pod.ts";
import { createDatabases, createNamespace, newSecrets, valuesOf } from "./installation.ts";
import { type Cluster, clusterOf, run } from "./kubectl.ts";
import { type OwnStores, type Stores, startStores } from "./stores.ts";

const chart = path.resolve(import.meta.dirname, "../../helm/statehouse");
const release = "statehouse";
const patience = "15m";
const components = ["gateway", "access", "workspaces", "state"] as const;
const constraint = "no_more_migrations";

const usage = `usage: npm run test:kubernetes -- --image NAME:TAG [options]

Installs helm/statehouse from examples/minimal.yaml into a new namespace of the cluster of KUBECONFIG, with kubectl and
helm on PATH. Applies changes to it with the real Terraform CLI under load, drains a node, crashes pods, and removes the
release. The nodes must have the images or be able to pull them.

  --demo                        only runs the commands of "Try it" in the README of the chart, in the namespace statehouse;
                                the nodes must be able to pull the images of examples/demo/stores.yaml
  --previous NAME:TAG           installs this image first, and upgrades and rolls back under load
  --minutes N                   how long upgrades and rollbacks are repeated (10)
  --rate N                      operations of the load per second (20); 20 operations send about 30 requests
  --stores-on ADDRESS           starts PostgreSQL, NATS and MinIO on this machine; pods reach it at ADDRESS
  --postgres URL                without --stores-on: the address of PostgreSQL for a user who may create databases
  --nats URL, --nats-user NAME, --nats-password PASSWORD
  --s3 URL, --s3-access-key KEY, --s3-secret-key KEY
`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    demo: { type: "boolean", default: false },
    image: { type: "string" },
    previous: { type: "string" },
    minutes: { type: "string", default: "10" },
    rate: { type: "string", default: "20" },
    "stores-on": { type: "string" },
    postgres: { type: "string" },
    nats: { type: "string" },
    "nats-user": { type: "string" },
    "nats-password": { type: "string" },
    s3: { type: "string" },
    "s3-access-key": { type: "string" },
    "s3-secret-key": { type: "string" },
  },
});

const required = (name: Exclude<keyof typeof values, "demo" | "help">): string => {
  const value = values[name];
  if (value === undefined) throw new StartError(`--${name} is missing.\n\n${usage}`);
  return value;
};

if (values.help) process.stdout.write(usage);
else await runCommand("The test", test);

async function test(print: (line: string) => void): Promise<void> {
  const image = required("image");
  if (values.demo) return await runDemo(image, print);
  const minutes = countOf("minutes", values.minutes, 0);
  const rate = countOf("rate", values.rate);
  await using disposing = new AsyncDisposableStack();
  const own = values["stores-on"]
    ? disposing.use(await startStores(values["stores-on"]))
    : undefined;
  const stores: Stores = own ?? {
    postgres: required("postgres"),
    nats: {
      url: required("nats"),
      user: required("nats-user"),
      password: required("nats-password"),
    },
    s3: {
      endpoint: required("s3"),
      accessKey: required("s3-access-key"),
      secretKey: required("s3-secret-key"),
    },
  };
  const namespace = `statehouse-test-${Date.now().toString(36)}`;
  const [cluster, outside] = [clusterOf(namespace), clusterOf(`${namespace}-edge`)];
  for (const one of [cluster, outside]) {
    await createNamespace(one);
    disposing.defer(async () => void (await one.kubectl("delete", "namespace", one.namespace)));
  }
  const { objects, unknown } = await dryRun(cluster);
  const without = unknown.length > 0 ? `, without ${unknown.join(", ")}` : "";
  print(`the API server admits the ${objects} objects of the examples${without}`);
  const databases = await createDatabases(stores.postgres, namespace);
  await cluster.apply(await newSecrets(stores, databases));
  const before = await objectsOf(cluster);

  const edge = await startEdgePod(outside, { cluster, image, disposing });
  const callers = [outside.namespace];
  const deploy = async (shown: string, more: object = {}) =>
    await upgrade(cluster, {
      ...valuesOf(stores, { image: shown, publicUrl: edge.url, callers }),
      ...more,
    });
  await deploy(values.previous ?? image);
  print('installed: all pods are ready, under the profile "restricted"');
  await helm(cluster, "test", release, "--logs", `--timeout=${patience}`);
  print("helm test passed");
  const { wrong, tried } = await examineConnections(cluster, outside, { stores, image });
  if (wrong.length > 0) throw new Error(`Connections:\n${wrong.join("\n")}`);
  print(
    `${tried} connections tried: those that the services need are open, and all others are closed`,
  );

  const load = disposing.use(await use(cluster, edge.url, rate));
  const steady = steadiness(load, print);
  await pause(20_000);
  steady("the real Terraform CLI applies through the Services");
  if (values.previous) {
    await failMigrations(cluster, databases, () => deploy(image));
    steady("an upgrade whose migration failed first");
    const end = Date.now() + minutes * 60_000;
    for (let round = 1; Date.now() < end; round++) {
      await helm(cluster, "rollback", release, "--wait", `--timeout=${patience}`);
      await pause(20_000);
      steady(`rollback ${round}`);
      await deploy(image);
      await pause(20_000);
      steady(`upgrade ${round}`);
    }
  }
  await drain(cluster, edge.node);
  steady("a node drained");
  for (const component of components) {
    const { after, before } = await crash(cluster, component);
    await pause(15_000);
    await available(cluster);
    steady(
      `a pod of ${component} killed`,
      (one) =>
        (one.what !== "apply" || lostResponse(one)) &&
        one.start <= before + 1000 &&
        one.end >= after,
    );
  }
  await scale(cluster, (gateway) => deploy(image, { gateway }));
  steady("the gateway scaled by its CPU");
  if (own) await restartPostgres(own, cluster, steady);
  await load.stop();
  steady("every state that was confirmed is the current one");

  await helm(cluster, "uninstall", release, "--wait", `--timeout=${patience}`);
  await waitFor(async () => (await objectsOf(cluster)).every((one) => before.includes(one)), {
    timeout: 180_000,
    what: "all objects of the release to be removed",
  });
  print("helm uninstall left nothing");
}

function helm(cluster: Cluster, ...args: string[]): Promise<string> {
  return run(findProgram("helm") ?? "helm", ["--namespace", cluster.namespace, ...args]);
}

/** Installs or upgrades the release, and waits until all pods are ready. */
async function upgrade(cluster: Cluster, changes: object): Promise<void> {
  await using folder = await temporaryFolder();
  const file = path.join(folder.path, "values.json");
  await writeFile(file, JSON.stringify(changes));
  const files = [path.join(chart, "examples/minimal.yaml"), file].map((one) => `--values=${one}`);
  const wait = ["--wait", `--timeout=${patience}`];
  try {
    await helm(cluster, "upgrade", "--install", release, chart, ...files, ...wait);
    await available(cluster);
  } catch (error) {
    const pods = await cluster.kubectl("get", "pods,jobs,events");
    const logs = await cluster
      .kubectl("logs", "--selector=app.kubernetes.io/instance=statehouse", "--tail=5", "--prefix")
      .catch(String);
    throw new Error(`${String(error)}\n${pods}\n${logs}`);
  }
}

async function available({ kubectl }: Cluster): Promise<void> {
  for (const component of components) {
    const deployment = `deployment/${release}-${component}`;
    await kubectl("rollout", "status", deployment, `--timeout=${patience}`);
  }
}

/** Creates an organization, and starts the load: small requests, large uploads and applies. */
async function use(cluster: Cluster, url: string, rate: number): Promise<Load> {
  const pod = ["exec", `deployment/${release}-access`, "--"];
  const command = ["/usr/bin/node", "/app/services/cli/main.ts", "user", "token", "admin"];
  const token = (await cluster.kubectl(...pod, ...command)).trim();
  const organization = await waitFor(() => newOrganization(api(url, token)));
  const folder = await exampleFolder({ url, token, organization, workspace: "on-kubernetes" });
  await folder.succeed("init");
  const uploadBytes = 50 * 2 ** 20;
  const load = {
    url,
    token,
    organization,
    folder,
    rate,
    uploadBytes,
    uploadMs: 5000,
  };
  return await startLoad(load);
}

/**
 * Returns a function that prints what the load has done since the previous call of this function, and throws if any
 * operation has failed.
 */
function steadiness(load: Load, print: (line: string) => void) {
  let known = 0;
  return (
    title: string,
    isExpected: (failure: Load["failures"][number]) => boolean = () => false,
  ) => {
    const added = load.failures.slice(known);
    known = load.failures.length;
    const unexpected = added.filter((failure) => !isExpected(failure));
    print(`${title}: ${load.report()}`);
    if (unexpected.length === 0) return;
    const shown = unexpected.slice(0, 5).map((failure) => JSON.stringify(failure));
    throw new Error(`${unexpected.length} failures:\n${shown.join("\n")}`);
  };
}

/** Starts an upgrade whose migrations cannot be recorded; after two failed attempts, lets them succeed. */
async function failMigrations(
  cluster: Cluster,
  databases: Readonly<Record<string, string>>,
  deploy: () => Promise<void>,
): Promise<void> {
  const query = async (sql: string) => {
    for (const connectionString of Object.values(databases)) {
      const client = new Client({ connectionString });
      await client.connect();
      await client.query(`alter table schema_migrations ${sql}`).finally(() => client.end());
    }
  };
  await query(`add constraint ${constraint} check (name is null) not valid`);
  const deployed = deploy();
  // Prevents an unhandled rejection; the upgrade is awaited below.
  deployed.catch(() => {});
  const restarts = "jsonpath={.items[*].status.containerStatuses[*].restartCount}";
  await waitFor(
    async () => {
      const counts = await cluster.kubectl("get", "pods", `--output=${restarts}`);
      return counts.split(" ").some((count) => Number(count) >= 2);
    },
    { timeout: 180_000, interval: 1000, what: "the migration to be tried again" },
  );
  await query(`drop constraint ${constraint}`);
  await deployed;
}

/** Removes the release's pods from a node other than `spared`, as an operator does before maintenance of a node. */
async function drain(cluster: Cluster, spared: string): Promise<void> {
  const names = "jsonpath={.items[*].metadata.name}";
  const nodes = (await cluster.kubectl("get", "nodes", `--output=${names}`)).split(" ");
  const node = nodes.find((name) => name !== spared);
  if (!node) throw new Error("The cluster needs two nodes.");
  const pods = `--pod-selector=app.kubernetes.io/instance=${release}`;
  try {
    await cluster.kubectl("drain", node, pods, "--delete-emptydir-data", "--ignore-daemonsets");
    await available(cluster);
  } finally {
    await cluster.kubectl("uncordon", node);
  }
  await pause(10_000);
}

/** Sets an autoscaling target that the gateway's load exceeds, and waits for a third pod. */
async function scale(cluster: Cluster, deploy: (gateway: object) => Promise<void>): Promise<void> {
  const autoscaling = { enabled: true, minReplicas: 2, maxReplicas: 3, targetCpu: "20m" };
  await deploy({ autoscaling });
  const replicas = "--output=jsonpath={.status.readyReplicas}";
  await waitFor(
    async () => (await cluster.kubectl("get", `deployment/${release}-gateway`, replicas)) === "3",
    { timeout: 300_000, interval: 1000, what: "a third pod of the gateway" },
  );
}

/** Restarts PostgreSQL. While it is down, requests may fail, but only with the status 503. */
async function restartPostgres(
  stores: OwnStores,
  cluster: Cluster,
  steady: ReturnType<typeof steadiness>,
): Promise<void> {
  await stores.restartPostgres(5000);
  await pause(15_000);
  await available(cluster);
  // The Terraform CLI repeats most requests. If it does not repeat a request, it prints the title of the error.
  steady("PostgreSQL restarted", ({ what, problem }) =>
    problem.includes(what === "apply" ? "service unavailable" : "503"),
  );
}

/**
 * Returns the kinds and names of the objects in the namespace, except events and metrics, which Kubernetes creates and
 * keeps for a while.
 */
async function objectsOf({ kubectl }: Cluster): Promise<string[]> {
  const kinds = await kubectl("api-resources", "--verbs=list", "--namespaced", "--output=name");
  const listed = kinds.split("\n").filter((kind) => kind && !/^events|metrics\.k8s\.io/.test(kind));
  const found = await kubectl("get", listed.join(","), "--output=name", "--ignore-not-found");
  return found.split("\n").filter(Boolean).sort();
}
