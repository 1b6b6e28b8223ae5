import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "@statehouse/testing";
import { expect, test } from "vitest";
import { example, examples, installations, manifests, valuesOfStores } from "./examples.ts";
import {
  chart,
  type KubernetesObject,
  minimal,
  podOf,
  program,
  rendered,
  run,
  template,
  workloads,
} from "./helm.ts";

const readme = readFileSync(path.join(chart, "README.md"), "utf8");
const SECRET = /"secret":\{"name":"([^"]+)","items":(\[.*?\])/g;

/** Returns each key that the commands of a README create, as `<name of the Secret> <key>`. */
function createdBy(commands: string): string[] {
  const created = [...commands.matchAll(/^kubectl create secret generic (\S+) (.*)$/gm)];
  return created.flatMap(([, name = "", rest = ""]) =>
    [...rest.matchAll(/--from-(?:literal|file)=([\w.]+)/g)].map(([, key]) => `${name} ${key}`),
  );
}

/** Returns what `keys print` writes for Kubernetes. */
async function printedKeys(): Promise<KubernetesObject[]> {
  await using folder = await temporaryFolder();
  const keys = async (...args: string[]) => {
    const main = path.join(chart, "../../services/cli/main.ts");
    const { code, output, errors } = await run(process.execPath, [main, "keys", ...args]);
    expect(code, errors).toBe(0);
    return output;
  };
  const file = path.join(folder.path, "keys.json");
  await keys("new", file);
  return [...rendered(await keys("print", file, "--format", "kubernetes")).objects];
}

/** Returns each key of Secrets, as `<name of the Secret> <key>`. */
const keysOf = (objects: readonly KubernetesObject[]): string[] =>
  objects.flatMap(({ metadata, ...secret }) => {
    const { data, stringData }: { data?: object; stringData?: object } = secret;
    return Object.keys({ ...data, ...stringData }).map((key) => `${metadata.name} ${key}`);
  });

/** Returns each key of a Secret that the pods of the release mount. */
const mountedBy = (output: string): string[] =>
  workloads(rendered(output)).flatMap((object) =>
    [...JSON.stringify(podOf(object).volumes).matchAll(SECRET)].flatMap(
      ([, name = "", items = ""]) =>
        [...items.matchAll(/"key":"([^"]+)"/g)].map(([, key]) => `${name} ${key}`),
    ),
  );

test("the commands of the README create every Secret that the shortest installation mounts", async () => {
  const [, commands = ""] = /## Install\n.*?```sh\n(.*?)```/s.exec(readme) ?? [];
  expect(commands.trim().split("\n")).toHaveLength(9);
  const printed = keysOf(await printedKeys());
  const { output } = await template([minimal]);
  const mounted = mountedBy(output);
  expect(new Set(mounted).size).toBeGreaterThan(15);
  const created = [...createdBy(commands), ...printed];
  expect([...new Set(mounted)].filter((one) => !created.includes(one))).toEqual([]);
  expect(createdBy(commands).filter((one) => !mounted.includes(one))).toEqual([]);
});

test("the demo ends in an apply after at most six commands, and its stores have what its values name", async () => {
  const [, commands = ""] = /## Try it\n.*?```sh\n(.*?)```/s.exec(readme) ?? [];
  const lines = commands.trim().split("\n");
  expect(lines.length).toBeLessThanOrEqual(6);
  expect(lines.at(-1)).toContain("terraform apply");
  for (const [program] of commands.matchAll(/(?:^|\| |&& |\$\()(\w+)/gm)) {
    expect(program).toMatch(/(kubectl|helm|TF_CLI_CONFIG_FILE|terraform)$/);
  }
  const { objects, ofKind } = rendered(readFileSync(example("demo/stores.yaml"), "utf8"));
  const { output, errors } = await template([example("demo/values.yaml")]);
  expect(errors).toBe("");
  const existing = keysOf([...ofKind("Secret"), ...(await printedKeys())]);
  expect(mountedBy(output).filter((key) => !existing.includes(key))).toEqual([]);
  const services = ofKind("Service").map(
    ({ metadata, spec }) => `${metadata.name}:${spec?.ports?.[0]?.port}`,
  );
  const named = [output, JSON.stringify(objects)].flatMap((text) =>
    [
      ...text.matchAll(/(?:nats|http|postgresql):\/\/(?:[^@/"\s]+@)?(postgres|nats|minio)(:\d+)/g),
    ].map(([, host, port]) => `${host}${port}`),
  );
  expect([...new Set(named)].toSorted()).toEqual(services.toSorted());
  for (const one of objects.filter(({ kind }) => kind !== "Namespace")) {
    expect(one.metadata.namespace).toBe("statehouse");
  }
});

test("the CloudNativePG example names the Services of the charts and the Secret that NATS mounts", async () => {
  const text = readFileSync(example("cloudnative-pg/values.yaml"), "utf8");
  const installed = [...text.matchAll(/helm install (\S+) --repo \S+ (\S+)(.*)$/gm)];
  expect(installed).toHaveLength(2);
  for (const [, release = "", name = "", options = ""] of installed) {
    // The charts are in the namespace of Statehouse, so the Service has no domain, and Secrets can be mounted.
    expect(options).not.toContain("--namespace");
    // The naming rule of both charts.
    const service = release.includes(name) ? release : `${release}-${name}`;
    expect(text).toMatch(new RegExp(`: (nats|http)://${service}:\\d+\n`));
  }
  const mounted = readFileSync(example(valuesOfStores.nats), "utf8");
  const [, secretName = ""] = /secretName: ([\w-]+)/.exec(mounted) ?? [];
  const [, file = ""] = /\$include: \.\.\/nats-users\/(\S+)/.exec(mounted) ?? [];
  expect(keysOf(await printedKeys())).toContain(`${secretName} ${file}`);
  const { metadata } = rendered(readFileSync(example("cloudnative-pg/stores.yaml"), "utf8")).get(
    "Cluster",
    "statehouse-postgres",
  );
  expect(text).toContain(`cnpg.io/cluster: ${metadata.name}`);
});

test("every example is an installation that renders, or the stores of one", () => {
  const files = readdirSync(examples, { recursive: true, encoding: "utf8" });
  expect(files.filter((file) => file.endsWith(".yaml")).toSorted()).toEqual(
    [
      ...new Set([...Object.keys(installations), ...manifests, ...Object.values(valuesOfStores)]),
    ].toSorted(),
  );
});

test.for(Object.entries(installations))("%s is rendered as it was", async ([name, values]) => {
  const { code, output, errors } = await template(values());
  expect(code, errors).toBe(0);
  const { objects } = rendered(output);
  expect(objects.filter(({ kind }) => kind === "Deployment")).toHaveLength(4);
  const golden = name.replace(/\W+/g, "-").replace(/-yaml$/, "");
  // Shortens the dashboards, because they are files of the chart and the golden file would repeat them.
  const shown = output.replaceAll(/^ {2}statehouse-\w+\.json: .*$/gm, (line) => line.slice(0, 40));
  await expect(shown).toMatchFileSnapshot(`golden/${golden}.yaml`);
});

test("NOTES names the value without which the policies refuse a proxy, and the way to a first apply", async () => {
  const notes = async (...args: string[]) => {
    const install = ["install", "statehouse", chart, "--dry-run=client", "--values", minimal];
    const { code, output, errors } = await run(program("helm"), [...install, ...args]);
    expect(code, errors).toBe(0);
    return output.slice(output.indexOf("NOTES:"));
  };
  const alone = await notes();
  expect(alone).toContain("networkPolicy.ingressController.namespaces={NAMESPACE}");
  expect(alone).toMatch(/cli-config .*\n.* terraform apply/);
  expect(alone).toContain('"Try it" in README.md');
  const admitted = await notes("--set", "networkPolicy.ingressController.namespaces={edge}");
  expect(admitted).not.toContain("refuse every proxy");
});
