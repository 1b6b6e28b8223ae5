import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

const services = path.resolve(import.meta.dirname, "../../services");
const contentOf = (file: string) => readFileSync(path.join(services, file), "utf8");

test("a noun with events has the member listed, so that subscribers can list its objects", () => {
  const publishing = globSync("*/*/*store.ts", { cwd: services })
    .filter((file) => /\bpublished\(/.test(contentOf(file)))
    .map((file) => path.dirname(file));
  expect(publishing.length).toBeGreaterThan(15);
  const unlisted = publishing.filter(
    (noun) => !/^ {2}listed: /m.test(contentOf(`${noun}/store.ts`)),
  );
  expect(unlisted).toEqual([]);
});
