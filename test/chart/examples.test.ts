import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { chart, minimal, rendered, template, type Values } from "./helm.ts";

const examples = path.join(chart, "examples");
const example = (name: string): string => path.join(examples, name);

/** The values inside the object of a GitOps tool. */
function valuesIn(name: string): Values {
  const documents = parseAllDocuments(readFileSync(example(name), "utf8"));
  for (const document of documents) {
    const found =
      document.getIn(["spec", "values"]) ??
      document.getIn(["spec", "source", "helm", "valuesObject"]);
    if (found) return JSON.parse(JSON.stringify(found));
  }
  throw new Error(`${name} has no values`);
}

const installations: Record<string, () => readonly Values[]> = {
  "minimal.yaml": () => [minimal],
  "production.yaml": () => [minimal, example("production.yaml")],
  "air-gapped.yaml": () => [minimal, example("air-gapped.yaml")],
  "cloudnative-pg/values.yaml": () => [
    example("cloudnative-pg/values.yaml"),
    { settingsFrom: { NATS_CREDENTIALS: null } },
  ],
  "argo-cd.yaml": () => [valuesIn("argo-cd.yaml")],
  "flux.yaml": () => [valuesIn("flux.yaml")],
};

test("every example is an installation that renders, or the stores of one", () => {
  const files = readdirSync(examples, { recursive: true, encoding: "utf8" });
  expect(files.filter((file) => file.endsWith(".yaml")).toSorted()).toEqual(
    [...Object.keys(installations), "cloudnative-pg/stores.yaml"].toSorted(),
  );
});

test.for(Object.entries(installations))("%s is rendered as it was", async ([name, values]) => {
  const { code, output, errors } = await template(values());
  expect(code, errors).toBe(0);
  const { objects } = rendered(output);
  expect(objects.filter(({ kind }) => kind === "Deployment")).toHaveLength(4);
  const golden = name.replace(/\W+/g, "-").replace(/-yaml$/, "");
  // The dashboards are files of the chart, which the golden render would repeat.
  const shown = output.replaceAll(/^ {2}statehouse-\w+\.json: .*$/gm, (line) => line.slice(0, 40));
  await expect(shown).toMatchFileSnapshot(`golden/${golden}.yaml`);
});
