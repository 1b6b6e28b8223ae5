import { cp, mkdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import path from "node:path";
import { temporaryFolder } from "@statehouse/testing";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { reservePort } from "../stack/port.ts";
import { chart, minimal, program, rendered, run } from "./helm.ts";
import { startProgram } from "./program.ts";

vi.setConfig({ testTimeout: 300_000 });
const root = path.resolve(chart, "../..");
const digest = `sha256:${"0123456789abcdef".repeat(4)}`;
const bill = JSON.stringify({ bomFormat: "CycloneDX" });

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
const place = (...names: string[]): string => path.join(folder.path, ...names);

/** Creates a signing key; the files `<name>.secret` and `<name>.public` are its keyrings. */
async function newKey(name: string): Promise<void> {
  // The path must be short, because gpg creates a socket in this folder.
  await using home = await temporaryFolder();
  const gpg = async (...args: string[]) => {
    const { code, errors } = await run("gpg", ["--homedir", home.path, "--batch", ...args]);
    if (code !== 0) throw new Error(errors);
  };
  await gpg("--passphrase=", "--quick-generate-key", name, "rsa2048", "sign", "1d");
  await gpg("--output", place(`${name}.secret`), "--export-secret-keys");
  await gpg("--output", place(`${name}.public`), "--export");
  await run("gpgconf", ["--homedir", home.path, "--kill", "gpg-agent"]);
}

beforeAll(async () => {
  folder = await temporaryFolder();
  process.env.HELM = program("helm");
  await Promise.all([newKey("release"), newKey("stranger")]);
  await writeFile(place("base.digest"), digest);
});
afterAll(async () => {
  delete process.env.HELM;
  await folder[Symbol.asyncDispose]();
});

/**
 * Runs the chart's release script of `repository`. First writes to the folder `dist` the files that the release of an
 * image creates.
 */
async function release(
  dist: string,
  { repository = root, registry = "oci://registry.example.com/charts", args = ["--dry-run"] } = {},
) {
  const { version } = JSON.parse(await readFile(path.join(root, "package.json"), "utf8"));
  const base = place(dist, `statehouse-${version}`);
  await mkdir(place(dist), { recursive: true });
  await writeFile(`${base}.digest`, digest);
  await writeFile(`${base}.cdx.json`, bill);
  const result = await run(process.execPath, [
    path.join(repository, "deploy/chart/release.mjs"),
    registry,
    "--image=registry.example.com/statehouse",
    "--key=release",
    `--keyring=${place("release.secret")}`,
    `--dist=${place(dist)}`,
    `--digest-file=${place("base.digest")}`,
    ...args,
  ]);
  return { ...result, archive: `${base}.tgz`, version };
}

test("a dry run packages the same bytes from every copy of a commit, and signs them", async () => {
  const here = await release("here");
  expect(here.code, here.errors).toBe(0);
  // Copies the repository; the copied files have new modification times, as after a checkout.
  for (const part of ["helm", "deploy", "package.json"]) {
    await cp(path.join(root, part), place("copy", part), { recursive: true });
  }
  await utimes(place("copy/helm/statehouse/values.yaml"), 1e9, 1e9);
  process.env.SOURCE_DATE_EPOCH = String(Math.floor((await timeOf(here.archive)) / 1000));
  const copy = await release("there", { repository: place("copy") });
  delete process.env.SOURCE_DATE_EPOCH;
  expect(copy.code, copy.errors).toBe(0);
  expect((await readFile(copy.archive)).equals(await readFile(here.archive))).toBe(true);
  const provenance = await readFile(`${here.archive}.prov`, "utf8");
  expect(provenance).toContain(`image: registry.example.com/statehouse@${digest}`);
  expect(provenance).toMatch(/statehouse\/bill-of-materials: .*cdx\.json sha256:[0-9a-f]{64}/);
  expect(provenance).toContain("-----BEGIN PGP SIGNATURE-----");
});

/** Returns the modification time of the files in an archive, in ms. */
async function timeOf(archive: string): Promise<number> {
  const args = ["xf", archive, "-C", folder.path, "statehouse/Chart.yaml"];
  await run("tar", args);
  return (await stat(place("statehouse/Chart.yaml"))).mtimeMs;
}

test("what was pushed into a registry can be pulled, verified and rendered", async () => {
  const port = await reservePort();
  const registry = `oci://localhost:${port}/charts`;
  await using _ = await startProgram(program("registry"), [`-port=${port}`], async () => {
    const answer = await fetch(`http://localhost:${port}/v2/`).catch(() => undefined);
    return answer?.ok === true;
  });
  const pushed = await release("pushed", { registry, args: ["--plain-http"] });
  expect(pushed.code, pushed.errors).toBe(0);

  const helm = (...args: string[]) => run(program("helm"), args);
  const pull = (keyring: string) =>
    helm(
      "pull",
      `${registry}/statehouse`,
      `--version=${pushed.version}`,
      `--destination=${folder.path}`,
      "--plain-http",
      "--verify",
      `--keyring=${place(keyring)}`,
    );
  const refused = await pull("stranger.public");
  expect(refused.code, refused.output).toBe(1);
  expect(refused.errors).toMatch(/signature|key|entity/);
  const pulled = await pull("release.public");
  expect(pulled.code, pulled.errors).toBe(0);

  const renderedFrom = async (from: string) => {
    const args = ["--kube-version=1.34", `--values=${minimal}`];
    const { code, output, errors } = await helm("template", "statehouse", from, ...args);
    expect(code, errors).toBe(0);
    return rendered(output).objects;
  };
  expect(await renderedFrom(place(`statehouse-${pushed.version}.tgz`))).toEqual(
    await renderedFrom(chart),
  );
});

test.for([
  ["an empty digest of the base", "", "deploy/image/base.digest is empty: write the digest of"],
  ["half a digest of the base", "sha256:12", "must be sha256: and 64 hexadecimal digits."],
] as const)("refuses %s", async ([, content, problem]) => {
  const file = place("bad.digest");
  await writeFile(file, content);
  const refused = await release("refused", { args: ["--dry-run", `--digest-file=${file}`] });
  expect(refused).toMatchObject({ code: 1, output: "" });
  expect(refused.errors).toContain(problem);
});

test("refuses a chart of another version, and an image that was not released", async () => {
  for (const part of ["helm", "deploy", "package.json"]) {
    await cp(path.join(root, part), place("other", part), { recursive: true });
  }
  const file = place("other/helm/statehouse/Chart.yaml");
  await writeFile(file, (await readFile(file, "utf8")).replace(/^version: .*$/m, "version: 9.9.9"));
  const other = await release("other-version", { repository: place("other") });
  expect(other.errors).toContain("version of helm/statehouse/Chart.yaml is not");
  const missing = await release("missing", { args: ["--dry-run", `--dist=${place("nothing")}`] });
  expect(missing.errors).toContain("is missing: release the image first");
});
