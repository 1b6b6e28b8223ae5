import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "@statehouse/testing";
import { expect, test } from "vitest";
import { examples, installations, manifests } from "./examples.ts";
import { chart, minimal, podOf, rendered, run, template, workloads } from "./helm.ts";

const SECRET = /"secret":\{"name":"([^"]+)","items":(\[.*?\])/g;

/** Returns each key that the commands of a README create, as `<name of the Secret> <key>`. */
function createdBy(commands: string): string[] {
  const created = [...commands.matchAll(/^kubectl create secret generic (\S+) (.*)$/gm)];
  return created.flatMap(([, name = "", rest = ""]) =>
    [...rest.matchAll(/--from-(?:literal|file)=([\w.]+)/g)].map(([, key]) => `${name} ${key}`),
  );
}

test("the commands of the README create every Secret that the shortest installation mounts", async () => {
  const readme = readFileSync(path.join(chart, "README.md"), "utf8");
  const [, commands = ""] = /## Install\n.*?```sh\n(.*?)```/s.exec(readme) ?? [];
  expect(commands.trim().split("\n")).toHaveLength(10);
  await using folder = await temporaryFolder();
  const keys = async (...args: string[]) => {
    const main = path.join(chart, "../../services/cli/main.ts");
    const { code, output, errors } = await run(process.execPath, [main, "keys", ...args]);
    expect(code, errors).toBe(0);
    return output;
  };
  const file = path.join(folder.path, "keys.json");
  await keys("new", file);
  const printed = rendered(await keys("print", file, "--format", "kubernetes")).objects.flatMap(
    ({ metadata, ...secret }) => {
      const { data, stringData }: { data?: object; stringData?: object } = secret;
      return Object.keys({ ...data, ...stringData }).map((key) => `${metadata.name} ${key}`);
    },
  );
  const { output } = await template([minimal]);
  const mounted = workloads(rendered(output)).flatMap((object) =>
    [...JSON.stringify(podOf(object).volumes).matchAll(SECRET)].flatMap(
      ([, name = "", items = ""]) =>
        [...items.matchAll(/"key":"([^"]+)"/g)].map(([, key]) => `${name} ${key}`),
    ),
  );
  expect(new Set(mounted).size).toBeGreaterThan(15);
  const created = [...createdBy(commands), ...printed];
  expect([...new Set(mounted)].filter((one) => !created.includes(one))).toEqual([]);
  expect(createdBy(commands).filter((one) => !mounted.includes(one))).toEqual([]);
});

test("every example is an installation that renders, or the stores of one", () => {
  const files = readdirSync(examples, { recursive: true, encoding: "utf8" });
  expect(files.filter((file) => file.endsWith(".yaml")).toSorted()).toEqual(
    [...new Set([...Object.keys(installations), ...manifests])].toSorted(),
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
