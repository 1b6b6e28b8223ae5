import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { startStack } from "../stack/stack.ts";

const run = promisify(execFile);
const npm = process.platform === "win32" ? "npm.cmd" : "npm";
/** Time limit for installing the generator from the registry, and for generating and compiling the client. */
const INSTALL_MS = 300_000;

test(
  "a client generated from the OpenAPI document compiles and walks the main path",
  async () => {
    await using stack = await startStack();
    const folder = mkdtempSync(path.join(tmpdir(), "typed-client-"));
    try {
      cpSync(path.join(import.meta.dirname, "typed-client"), folder, { recursive: true });
      const document = await fetch(`${stack.url}/openapi/stable.json`);
      writeFileSync(path.join(folder, "openapi.json"), await document.text());
      const program = (name: string, file: string, ...args: string[]) =>
        run(process.execPath, [path.join(folder, "node_modules", name, file), ...args], {
          cwd: folder,
        });
      await run(npm, ["ci", "--no-audit", "--no-fund"], { cwd: folder });
      await program("openapi-typescript", "bin/cli.js", "openapi.json", "-o", "schema.d.ts");
      await program("typescript", "bin/tsc", "-p", ".");
      const { walk }: { walk(url: string, token: string): Promise<string[]> } = await import(
        pathToFileURL(path.join(folder, "walk.ts")).href
      );
      const { token } = await stack.people.newUser();
      expect(await walk(stack.url, token)).toEqual([
        expect.stringMatching(/^typed-\d+$/),
        "typed true",
        "locked true",
        "409 workspace_locked",
        "locked false",
        "1 projects",
        "204",
      ]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
  INSTALL_MS,
);
