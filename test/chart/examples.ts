import { readFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { chart, minimal, type Values } from "./helm.ts";

export const examples = path.join(chart, "examples");
export const example = (name: string): string => path.join(examples, name);

/** Returns the values that are contained in the object of a GitOps tool. */
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

/** The installations that helm/statehouse/examples contains, with their values. */
export const installations: Record<string, () => readonly Values[]> = {
  "minimal.yaml": () => [minimal],
  "production.yaml": () => [minimal, example("production.yaml")],
  "air-gapped.yaml": () => [minimal, example("air-gapped.yaml")],
  "cloudnative-pg/values.yaml": () => [example("cloudnative-pg/values.yaml")],
  "demo/values.yaml": () => [example("demo/values.yaml")],
  "argo-cd.yaml": () => [valuesIn("argo-cd.yaml")],
  "flux.yaml": () => [valuesIn("flux.yaml")],
};

/** The values of other charts, by the chart's name. */
export const valuesOfStores = { nats: "cloudnative-pg/nats.yaml" } as const;

/** The examples that are manifests: those of GitOps tools, of CloudNativePG and of the demo. */
export const manifests = [
  "argo-cd.yaml",
  "flux.yaml",
  "cloudnative-pg/stores.yaml",
  "demo/stores.yaml",
];
