import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { everything } from "./everything.ts";
import { example, installations, manifests } from "./examples.ts";
import { minimal, program, type Result, render, rendered, run, template } from "./helm.ts";
import { writeKubernetesSchemas } from "./kubernetes-schemas.ts";

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let schemas: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  schemas = await writeKubernetesSchemas(path.join(folder.path, "schemas"));
});
afterAll(() => folder[Symbol.asyncDispose]());

async function conforms(text: string): Promise<Result> {
  const file = path.join(folder.path, "rendered.yaml");
  writeFileSync(file, text);
  const args = ["-strict", "-summary", "-schema-location", schemas, file];
  return await run(program("kubeconform"), args);
}

const complete = { ...installations, "everything.ts": () => [minimal, everything] };

test.for(Object.entries(complete))(
  "%s conforms to the schemas of Kubernetes",
  async ([, values]) => {
    const { code, output: text, errors } = await template(values());
    expect(code, errors).toBe(0);
    const result = await conforms(text);
    expect(result.code, result.output + result.errors).toBe(0);
    const { length } = rendered(text).objects;
    expect(result.output).toMatch(
      new RegExp(`^Summary: ${length} resources found .* Skipped: 0$`, "m"),
    );
  },
);

test.for(manifests)("%s conforms to the schemas of its custom resources", async (name) => {
  const { code, output, errors } = await conforms(readFileSync(example(name), "utf8"));
  expect(code, output + errors).toBe(0);
  expect(output).toMatch(/^Summary: [1-9].* Skipped: 0$/m);
});

test("a misspelt field does not conform", async () => {
  const { text } = await render();
  const { code, output } = await conforms(
    text.replace("automountServiceAccountToken", "autoMountServiceAccountToken"),
  );
  expect(code).toBe(1);
  expect(output).toContain("autoMountServiceAccountToken");
});
