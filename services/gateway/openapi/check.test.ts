import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtempDisposable } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import process from "node:process";
import { expect, test } from "vitest";

const check = path.join(import.meta.dirname, "check.ts");
/** Time limit in ms that is long enough for several starts of Node on a busy machine. */
const TIME_MS = 120_000;

test(
  "a change that breaks clients fails the check until CHANGELOG.md names it",
  async () => {
    await using folder = await mkdtempDisposable(path.join(tmpdir(), "openapi-check-"));
    const cwd = folder.path;
    const file = path.join(cwd, "docs", "openapi.json");
    const changelog = path.join(cwd, "CHANGELOG.md");
    const run = (...args: string[]) => {
      const { status, stderr } = spawnSync(process.execPath, [check, ...args], {
        cwd,
        encoding: "utf8",
      });
      return { status, stderr };
    };
    const git = (...args: string[]) =>
      expect(spawnSync("git", args, { cwd, encoding: "utf8" })).toMatchObject({ status: 0 });
    mkdirSync(path.dirname(file));
    writeFileSync(changelog, "# Changelog\n");
    expect(run("--renew")).toEqual({ status: 0, stderr: "" });
    const current = readFileSync(file, "utf8");

    // Gives the document on origin/main an operation that the current document does not have.
    const before = JSON.parse(current);
    before.paths["/api/v2/gone"] = before.paths["/api/v2/account/details"];
    writeFileSync(file, JSON.stringify(before));
    git("init", "--quiet");
    git("add", ".");
    const author = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
    git(...author, "commit", "--quiet", "--message", "before");
    git("update-ref", "refs/remotes/origin/main", "HEAD");
    expect(run().stderr).toContain("docs/openapi.json does not describe the current routes");
    writeFileSync(file, current);

    const broken = run();
    expect(broken.status).toBe(1);
    expect(broken.stderr).toContain("gone: GET /api/v2/gone\n");
    const [line = ""] = /OpenAPI change \w+/.exec(broken.stderr) ?? [];
    expect(line).not.toBe("");
    appendFileSync(changelog, `- The operation is gone (${line}).\n`);
    expect(run()).toEqual({ status: 0, stderr: "" });
  },
  TIME_MS,
);
