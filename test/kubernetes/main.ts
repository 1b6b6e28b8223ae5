// Installs the chart on the cluster of KUBECONFIG and uses it: `npm run test:kubernetes -- --help`.

import { writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { findProgram } from "@statehouse/local-services";
import { runCommand, StartError } from "@statehouse/runtime";
import { temporaryFolder, waitFor } from "@statehouse/testing";
import { exampleFolder } from "../compat/example-folder.ts";
import { api } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import { createDatabases, createNamespace, createSecrets, valuesOf } from "./installation.ts";
import { type Cluster, clusterOf, run } from "./kubectl.ts";
import { type Stores, startStores } from "./stores.ts";

const chart = path.resolve(import.meta.dirname, "../../helm/statehouse");
const release = "statehouse";
const minutes = "10m";

const usage = `usage: npm run test:kubernetes -- --image NAME:TAG [options]

Installs helm/statehouse from examples/minimal.yaml into a new namespace of the cluster of KUBECONFIG, with kubectl and
helm on PATH, applies a configuration with the real command line, and removes it. The nodes must have the image or be
able to pull it.

  --stores-on ADDRESS           starts PostgreSQL, NATS and MinIO on this machine; pods reach it at ADDRESS
  --postgres URL                otherwise: the address of a user who may create databases
  --nats URL, --nats-user NAME, --nats-password PASSWORD
  --s3 URL, --s3-access-key KEY, --s3-secret-key KEY
`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    image: { type: "string" },
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

const required = (name: Exclude<keyof typeof values, "help">): string => {
  const value = values[name];
  if (value === undefined) throw new StartError(`--${name} is missing.\n\n${usage}`);
  return value;
};

if (values.help) process.stdout.write(usage);
else await runCommand("The test", test);

async function test(print: (line: string) => void): Promise<void> {
  const image = required("image");
  await using disposing = new AsyncDisposableStack();
  const stores: Stores = values["stores-on"]
    ? disposing.use(await startStores(values["stores-on"]))
    : {
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
  const cluster = clusterOf(`statehouse-test-${Date.now().toString(36)}`);
  await createNamespace(cluster);
  disposing.defer(
    async () => void (await cluster.kubectl("delete", "namespace", cluster.namespace)),
  );
  const databases = await createDatabases(stores.postgres, cluster.namespace);
  await createSecrets(cluster, stores, databases);
  const before = await objectsOf(cluster);

  const proxy = disposing.use(await startProxy());
  await install(cluster, valuesOf(stores, { image, publicUrl: proxy.url }));
  print('installed: all pods are ready, under the profile "restricted"');
  await helm(cluster, "test", release, `--timeout=${minutes}`);
  print("helm test passed");

  const gateway = disposing.use(await cluster.forward(`${release}-gateway`, 80));
  const objects = disposing.use(await cluster.forward(`${release}-state-objects`, 80));
  proxy.route({ gateway: gateway.port, objects: objects.port });
  await apply(cluster, proxy.url);
  print("the real command line applied, changed and destroyed through the Services");

  await helm(cluster, "uninstall", release, "--wait", `--timeout=${minutes}`);
  const left = await waitFor(
    async () => {
      const now = (await objectsOf(cluster)).filter((one) => !before.includes(one));
      return now.length === 0 ? [] : undefined;
    },
    { timeout: 120_000, what: "all objects of the release to be removed" },
  );
  print(`helm uninstall left ${left.length} objects`);
}

function helm(cluster: Cluster, ...args: string[]): Promise<string> {
  return run(findProgram("helm") ?? "helm", ["--namespace", cluster.namespace, ...args]);
}

async function install(cluster: Cluster, given: object): Promise<void> {
  await using folder = await temporaryFolder();
  const file = path.join(folder.path, "values.json");
  await writeFile(file, JSON.stringify(given));
  const minimal = path.join(chart, "examples/minimal.yaml");
  try {
    await helm(
      cluster,
      "install",
      release,
      chart,
      `--values=${minimal}`,
      `--values=${file}`,
      "--wait",
      `--timeout=${minutes}`,
    );
  } catch (error) {
    const pods = await cluster.kubectl("get", "pods,jobs,events");
    const logs = await cluster
      .kubectl("logs", "--selector=app.kubernetes.io/instance=statehouse", "--tail=5", "--prefix")
      .catch(String);
    throw new Error(`${String(error)}\n${pods}\n${logs}`);
  }
}

/** The objects of the namespace by kind and name, without what Kubernetes makes itself and keeps for a while. */
async function objectsOf({ kubectl }: Cluster): Promise<string[]> {
  const kinds = await kubectl("api-resources", "--verbs=list", "--namespaced", "--output=name");
  const wanted = kinds.split("\n").filter((kind) => kind && !/^events|metrics\.k8s\.io/.test(kind));
  const found = await kubectl("get", wanted.join(","), "--output=name", "--ignore-not-found");
  return found.split("\n").filter(Boolean).sort();
}

async function apply(cluster: Cluster, url: string): Promise<void> {
  const pod = ["exec", `deployment/${release}-access`, "--"];
  const command = ["/usr/bin/node", "/app/services/cli/main.ts", "user", "token", "admin"];
  const token = (await cluster.kubectl(...pod, ...command)).trim();
  const organization = await waitFor(() => newOrganization(api(url, token)));
  await using folder = await exampleFolder({
    url,
    token,
    organization,
    workspace: "on-kubernetes",
  });
  await folder.succeed("init");
  await folder.succeed("apply", "-auto-approve");
  await folder.succeed("apply", "-auto-approve", "-var", "greeting=changed");
  const { stdout } = await folder.succeed("output", "-raw", "text");
  if (stdout !== "changed") throw new Error(`the output is ${stdout}`);
  await folder.succeed("destroy", "-auto-approve");
}

/** The public address: sends `/v1/object` to state and everything else to the gateway, as an ingress does. */
async function startProxy() {
  let ports = { gateway: 0, objects: 0 };
  const server = createServer((incoming, outgoing) => {
    const port = incoming.url?.startsWith("/v1/object/") ? ports.objects : ports.gateway;
    const { method, url: path, headers } = incoming;
    const forwarded = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => outgoing.destroy());
    incoming.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    route(given: typeof ports) {
      ports = given;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
