import { writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { everything } from "./everything.ts";
import { program, type Result, render, run, type Values } from "./helm.ts";
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

const installations: [name: string, values: Values][] = [
  ["the shortest installation", {}],
  ["an installation with everything", everything],
];

test.for(installations)("%s conforms to the schemas of Kubernetes", async ([, values]) => {
  const { text, objects } = await render(values);
  const { code, output, errors } = await conforms(text);
  expect(code, output + errors).toBe(0);
  expect(output).toMatch(
    new RegExp(`^Summary: ${objects.length} resources found .* Skipped: 0$`, "m"),
  );
});

test("a misspelt field does not conform", async () => {
  const { text } = await render();
  const { code, output } = await conforms(
    text.replace("automountServiceAccountToken", "autoMountServiceAccountToken"),
  );
  expect(code).toBe(1);
  expect(output).toContain("autoMountServiceAccountToken");
});
