import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { needs, runProgram, temporaryFolder } from "@statehouse/testing";
import { describe, expect, test } from "vitest";
import { readCompose } from "./compose-file.ts";
import { BUILD_MS, useImage } from "./use-image.ts";

const root = path.resolve(import.meta.dirname, "../..");
const compose = path.join(root, "deploy/compose.yaml");

describe("deploy/compose.yaml", () => {
  const lint = (file: string) =>
    spawnSync(
      process.execPath,
      [path.join(root, "node_modules/dclint/bin/dclint.cjs"), "--quiet", file],
      {
        encoding: "utf8",
      },
    );

  test("follows the schema of the Compose specification", () => {
    const { status, stdout } = lint(compose);
    expect(status, stdout).toBe(0);
  });

  test("the schema rejects a misspelt key", async () => {
    await using folder = await temporaryFolder();
    const file = path.join(folder.path, "compose.yaml");
    const misspelt = readFileSync(compose, "utf8").replace(
      "command: [gateway]",
      "comand: [gateway]",
    );
    writeFileSync(file, misspelt);
    expect(lint(file).stdout).toContain("must NOT have additional properties");
  });

  test.each(["STATEHOUSE_IMAGE", "POSTGRES_PASSWORD", "S3_SECRET_KEY"])(
    "requires %s",
    (missing) => {
      const all = {
        STATEHOUSE_IMAGE: "i",
        POSTGRES_PASSWORD: "p",
        S3_SECRET_KEY: "s",
      };
      expect(() => readCompose(compose, { ...all, [missing]: "" })).toThrow(
        `${missing} is missing in deploy/.env`,
      );
    },
  );
});

needs(
  "release tools",
  "minio",
  "nats-server",
  "terraform",
)("the services of deploy/compose.yaml", () => {
  const image = useImage();

  test("start in the order of their dependencies, become healthy and serve the real command line", {
    timeout: BUILD_MS,
  }, async () => {
    const program = path.join(import.meta.dirname, "compose-run.ts");
    const args = ["--net", process.execPath, program, image().name];
    const { code, output, stdout } = await runProgram("unshare", args);
    expect(code, output).toBe(0);
    const lines = stdout.trim().split("\n");
    const place = (line: string) => {
      expect(lines).toContain(line);
      return lines.indexOf(line);
    };
    for (const name of ["access", "workspaces", "state"]) {
      expect(place("postgres is healthy")).toBeLessThan(place(`migrate-${name} has ended`));
      expect(place(`migrate-${name} has ended`)).toBeLessThan(place(`${name} is healthy`));
      expect(place(`${name} is healthy`)).toBeLessThan(place("gateway is healthy"));
    }
    expect(lines.slice(-3)).toEqual(["applied: hello", "stopped", "done"]);
  });
});
