import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { temporaryFolder } from "@statehouse/testing";
import { describe, expect, test } from "vitest";

const folder = path.resolve(import.meta.dirname, "../../deploy/image");

describe("the script of a release", () => {
  const release = async (digest: string, ...args: string[]) => {
    await using own = await temporaryFolder();
    const file = path.join(own.path, "base.digest");
    writeFileSync(file, digest);
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [path.join(folder, "release.mjs"), `--digest-file=${file}`, "--dry-run", ...args],
      { encoding: "utf8" },
    );
    return { status, stdout, stderr };
  };
  const digest = `sha256:${"0123456789abcdef".repeat(4)}`;

  test("builds on the pinned base, writes the bill of materials and pushes", async () => {
    const { status, stdout, stderr } = await release(
      `${digest}\n`,
      "registry.example.com/statehouse",
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const [build, push] = stdout.split("\n");
    expect(build).toContain(`--base=gcr.io/distroless/cc-debian12@${digest} `);
    expect(build).toMatch(/--sbom=\S+\/dist\/statehouse-\d+\.\d+\.\d+\.cdx\.json /);
    expect(push).toMatch(
      /^buildah push .* docker:\/\/registry\.example\.com\/statehouse:\d+\.\d+\.\d+$/,
    );
  });

  test.each([
    [
      "",
      "deploy/image/base.digest is empty: write the digest of gcr.io/distroless/cc-debian12:nonroot into it before a release.",
    ],
    ["\n", "deploy/image/base.digest is empty"],
    ["sha256:1234", "deploy/image/base.digest must be sha256: and 64 hexadecimal digits."],
    [digest.toUpperCase(), "must be sha256: and 64 hexadecimal digits."],
    [`${digest} ${digest}`, "must be sha256: and 64 hexadecimal digits."],
  ])("refuses the digest %j", async (reference, problem) => {
    const { status, stdout, stderr } = await release(reference, "registry.example.com/statehouse");
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain(problem);
  });

  test("refuses to run without a repository", async () => {
    const { status, stderr } = await release(digest);
    expect(status).toBe(1);
    expect(stderr).toContain("An argument is missing: the repository");
  });

  test("the committed digest is empty or valid", () => {
    const committed = readFileSync(path.join(folder, "base.digest"), "utf8").trim();
    expect(committed).toMatch(/^(sha256:[0-9a-f]{64})?$/);
  });
});
