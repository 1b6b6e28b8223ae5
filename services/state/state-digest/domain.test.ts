import { expect, test } from "vitest";
import { extractStateFile } from "../test/extract.ts";
import { digestsOf } from "./domain.ts";

const key = { id: "k1", key: Buffer.alloc(32, 1).toString("base64") };
const state = (password: string) =>
  extractStateFile(
    JSON.stringify({
      version: 4,
      serial: 1,
      lineage: "l",
      outputs: { url: { value: "u", type: "string" }, key: { value: password, sensitive: true } },
      resources: [
        {
          ...{ mode: "managed", type: "db", name: "main", provider: "p" },
          instances: [
            { index_key: 0, attributes: { password } },
            { index_key: 1, attributes: {} },
          ],
        },
      ],
    }),
  );

test("equal contents have equal digests, and a digest depends on the content, the place and the key", () => {
  const one = digestsOf(state("a"), key);
  expect(digestsOf(state("a"), key)).toEqual(one);
  const other = digestsOf(state("b"), key);
  const [resources, changed] = [one, other].map((of) => JSON.parse(of.resources));
  expect(Object.keys(resources)).toEqual(["db.main[0]", "db.main[1]"]);
  expect(changed["db.main[0]"]).not.toBe(resources["db.main[0]"]);
  expect(changed["db.main[1]"]).toBe(resources["db.main[1]"]);
  expect(resources["db.main[0]"]).toMatch(/^[\w-]{22}$/);
  const [outputs, changedOutputs] = [one, other].map((of) => JSON.parse(of.outputs));
  expect(changedOutputs.url).toEqual(outputs.url);
  expect(changedOutputs.key).not.toEqual(outputs.key);
  expect(outputs.key[1]).toBe(true);
  const foreign = digestsOf(state("a"), { ...key, key: Buffer.alloc(32, 2).toString("base64") });
  expect(JSON.parse(foreign.resources)["db.main[0]"]).not.toBe(resources["db.main[0]"]);
});
