import { execFileSync } from "node:child_process";
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { Spec, Validation } from "@cyclonedx/cyclonedx-library";
import { needs, temporaryFolder } from "@statehouse/testing";
import { expect, test } from "vitest";
import { copyOfRepository } from "../release/copy-of-repository.ts";
import { buildImage } from "./build-image.ts";
import { buildah } from "./buildah.ts";
import { mountImage } from "./container.ts";
import { BUILD_MS, useImage } from "./use-image.ts";

const root = path.resolve(import.meta.dirname, "../..");

/** Returns the paths below a folder, each with its mode and its owner. */
function* entriesOf(folder: string): Generator<{ path: string; mode: number; uid: number }> {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const { mode, uid } = lstatSync(path.join(folder, name));
    yield { path: `/${name}`, mode, uid };
  }
}

const isLink = ({ mode }: { mode: number }) => (mode & 0o170_000) === 0o120_000;

needs("release tools")("the image", () => {
  const image = useImage();

  test("runs one entry point as a numeric user and is labelled", () => {
    const { configuration } = image();
    expect(configuration.User).toBe("65532:65532");
    expect(configuration.Entrypoint).toEqual(["/usr/bin/node", "/app/services/cli/main.ts"]);
    const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
    const revision = execFileSync("git", ["rev-parse", "HEAD"], { encoding: "utf8" }).trim();
    expect(configuration.Labels).toMatchObject({
      "org.opencontainers.image.title": "Statehouse",
      "org.opencontainers.image.licenses": "Apache-2.0",
      "org.opencontainers.image.version": version,
      "org.opencontainers.image.revision": revision,
    });
  });

  test("contains no setuid file, nothing that its user may change, and no program but Node", () => {
    const entries = [...entriesOf(image().files)];
    const files = entries.filter(({ mode }) => (mode & 0o170_000) === 0o100_000);
    expect(files.filter(({ mode }) => mode & 0o6000)).toEqual([]);
    const changeable = entries.filter(
      (entry) => !isLink(entry) && (entry.uid !== 0 || entry.mode & 0o002),
    );
    const temporary = ["/tmp", "/var/lock", "/var/tmp"];
    expect(changeable.map(({ path }) => path).filter((one) => !temporary.includes(one))).toEqual(
      [],
    );
    const folders = ["/bin/", "/sbin/", "/usr/bin/", "/usr/sbin/", "/usr/local/"];
    const programs = files.filter(({ path }) => folders.some((one) => path.startsWith(one)));
    expect(programs.map(({ path }) => path)).toEqual(["/usr/bin/node"]);
    const tools = /(^|\/)(npm|npx|corepack|yarn|pnpm|apt|apt-get|dpkg|sh|bash|dash|busybox|perl)$/;
    expect(files.map(({ path }) => path).filter((path) => tools.test(path))).toEqual([]);
  });

  test("contains the packages of production only, and sources without tests", () => {
    const { packages } = JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8"));
    const paths = [...entriesOf(path.join(image().files, "app"))].map(({ path }) => path.slice(1));
    const installed = paths
      .filter((place) => /(^|\/)node_modules\/(@[^/]+\/)?[^/@.][^/]*$/.test(place))
      .filter((place) => !place.startsWith("node_modules/@statehouse/"));
    expect(installed).toContain("node_modules/koa");
    for (const place of installed) expect(packages[place], place).not.toMatchObject({ dev: true });
    const ours = paths.filter((place) => /^(packages|services)\//.test(place));
    expect(
      ours.filter((place) =>
        /\.test\.ts$|\/test(\/|$)|^packages\/(testing|conventions)/.test(place),
      ),
    ).toEqual([]);
  });

  test("has a bill of materials that lists every package, in the form of CycloneDX", async () => {
    const bom = readFileSync(image().bom, "utf8");
    const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
    expect(await validator.validate(bom)).toBeNull();
    const { components } = JSON.parse(bom);
    const named = new Set(components.map(({ purl }: { purl: string }) => purl));
    for (const { path: place } of entriesOf(path.join(image().files, "app/node_modules"))) {
      if (!/^\/((.*\/)?node_modules\/)?(@[^/]+\/)?[^/@]+\/package\.json$/.test(place)) continue;
      if (place.startsWith("/@statehouse/")) continue;
      const { name, version } = JSON.parse(
        readFileSync(path.join(image().files, "app/node_modules", place), "utf8"),
      );
      expect(named).toContain(`pkg:npm/${name.replace("@", "%40")}@${version}`);
    }
    const names = components.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(["node", "libc6", "libstdc++6", "koa"]));
  });

  test("is small", async () => {
    const printed = await buildah("images", "--json", image().name);
    const [{ size }] = JSON.parse(printed);
    console.log(`size of the image: ${size}`);
    expect(size).toMatch(/^\d+ MB$/);
    expect(Number.parseInt(size, 10)).toBeLessThan(300);
  });

  test("has the same layers when it is built again elsewhere, but for the compile cache", {
    timeout: BUILD_MS,
  }, async () => {
    await using folder = await temporaryFolder();
    const clone = path.join(folder.path, "clone");
    // The time of the commit determines the times in the image; the files of the clone have the current time.
    execFileSync("git", ["clone", "--quiet", "--depth=1", `file://${root}`, clone]);
    copyOfRepository(clone);
    const again = await buildImage(clone, { tag: `${image().name}-again` });
    await using disposing = new AsyncDisposableStack();
    disposing.defer(async () => void (await buildah("rmi", again)));
    const other = disposing.use(await mountImage(again));
    expect(other.layers).toHaveLength(3);
    // V8 writes a random hash seed into compiled code, so the last layer differs.
    expect(other.layers.slice(0, 2)).toEqual(image().layers.slice(0, 2));
    const names = (files: string) =>
      readdirSync(path.join(files, "app/.compile-cache"), { recursive: true }).sort();
    expect(names(other.files)).toEqual(names(image().files));
  });
});
