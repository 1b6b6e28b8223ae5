import { execFile } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { needs, temporaryFolder } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Stack, startStack } from "../stack/stack.ts";

// Runs the commands and programs of docs/api.md in their order, as a reader does.

const run = promisify(execFile);
const text = readFileSync(path.join(import.meta.dirname, "../../docs/api.md"), "utf8");
/** Time limit for compiling the Go program. */
const BUILD_MS = 600_000;

const blocks = (language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms"))].map(
    ([, block]) => block ?? "",
  );

needs("go")("docs/api.md", () => {
  let stack: Stack;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    stack = await startStack();
    folder = await temporaryFolder();
    const { token } = await stack.people.newUser();
    env = { ...process.env, STATEHOUSE: stack.url, TOKEN: token };
  });
  afterAll(async () => {
    await folder[Symbol.asyncDispose]();
    await stack[Symbol.asyncDispose]();
  });

  test("has commands that succeed in their order", async () => {
    // The environment already contains the address and the token that the reader would set.
    const script = blocks("sh")
      .join("\n")
      .replace(/^export STATEHOUSE=.*$/m, "");
    const { stdout } = await run("sh", ["-euc", script], { cwd: folder.path, env });
    expect(stdout).toContain('"type":"users"');
    expect(stdout).toContain('"name":"network"');
    expect(stdout).toContain('"lineage": "9f6a1b1c-5a3e-4a55-9d0c-1d2f3a4b5c6d"');
    expect(stdout).toMatch(/304$/m);
  });

  test("has a Python program that lists the workspace", async () => {
    const [program = ""] = blocks("python");
    const { stdout } = await run("python3", ["-c", program], { env });
    expect(stdout).toMatch(/^ws-\w{16} network\n$/);
  });

  test(
    "has a Go program that reads the workspace",
    async () => {
      for (const file of ["go.mod", "go.sum"]) {
        cpSync(path.join(import.meta.dirname, "go-tfe", file), path.join(folder.path, file));
      }
      writeFileSync(path.join(folder.path, "main.go"), blocks("go")[0] ?? "");
      const { stdout } = await run("go", ["run", "-mod=mod", "."], {
        cwd: folder.path,
        env: { ...env, CGO_ENABLED: "0", GOTOOLCHAIN: "local" },
      });
      expect(stdout).toMatch(/^ws-\w{16}\n$/);
    },
    BUILD_MS,
  );
});
