import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { filesThatUse } from "./files-that-use.ts";
import { temporaryFolder } from "./temporary-folder.ts";

test("files that import a name, directly and through others, are found", async () => {
  await using folder = await temporaryFolder();
  const write = (file: string, ...lines: string[]) => {
    mkdirSync(path.dirname(path.join(folder.path, file)), { recursive: true });
    writeFileSync(path.join(folder.path, file), `${lines.join("\n")}\n`);
  };
  write("a/direct.test.ts", 'import {\n  needs,\n  ownNats,\n} from "@statehouse/testing";');
  write("a/through.test.ts", 'import { useStack } from "../stack/fixture.ts";');
  write("a/none.test.ts", 'import { needs } from "./cycle.ts";', "// ownNats");
  write("a/cycle.ts", 'import { b } from "./none.test.ts";');
  write("stack/fixture.ts", 'import { stack } from "./stack.ts";');
  write("stack/stack.ts", 'import { ownNats } from "@statehouse/testing";');
  expect(filesThatUse(["ownNats"], folder.path, ["**/*.test.ts"])).toEqual([
    "a/direct.test.ts",
    "a/through.test.ts",
  ]);
});

test("files that need nats-server are those with a stack or a bus of their own", () => {
  const root = path.resolve(import.meta.dirname, "../..");
  const files = filesThatUse(["ownNats"], root, ["{packages,services,test}/**/*.test.ts"]);
  expect(files).toContain("packages/events/test/delivery.test.ts");
  expect(files).toContain("test/system/workspace-lock.test.ts");
  expect(files).not.toContain("services/access/test/team.test.ts");
  expect(files).not.toContain("test/compat/standalone.test.ts");
});
