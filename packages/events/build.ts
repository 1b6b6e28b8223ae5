import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";

// Builds the packages that other projects install to subscribe to events. They contain JavaScript with type
// declarations, because Node does not strip types under node_modules. Writes two archives to the given folder, by
// default `dist`.

const root = path.resolve(import.meta.dirname, "../..");
const events = path.join(root, "packages/events");
const proto = path.join(root, "packages/proto");
const destination = path.resolve(process.argv[2] ?? path.join(root, "dist"));

interface Manifest {
  name: string;
  version: string;
  description: string;
  license: string;
  dependencies: Record<string, string>;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));

/** Packs a folder as a package that does not depend on other packages of this repository. */
function pack(folder: string, of: Manifest, dependencies: readonly string[], exports: object) {
  const { name, version, description, license } = of;
  const needed = dependencies.map((dependency) => {
    const range = of.dependencies[dependency];
    if (!range) throw new Error(`${name} does not depend on ${dependency}`);
    return [dependency, range];
  });
  const manifest = {
    ...{ name, version, description, license, type: "module", engines: { node: ">=22" } },
    ...{ exports, dependencies: Object.fromEntries(needed) },
  };
  writeFileSync(path.join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(path.join(root, "LICENSE"), path.join(folder, "LICENSE"));
  // npm only writes the archive here; it downloads nothing.
  const options = ["pack", folder, "--pack-destination", destination, "--offline", "--silent"];
  const archive = execFileSync("npm", options, { cwd: root, encoding: "utf8" }).trim();
  process.stdout.write(`${path.join(destination, archive)}\n`);
}

mkdirSync(destination, { recursive: true });
const built = path.join(events, "dist");
rmSync(built, { recursive: true, force: true });
const tsc = path.join(root, "node_modules/typescript/bin/tsc");
execFileSync(process.execPath, [tsc, "-p", path.join(events, "tsconfig.build.json")], {
  stdio: "inherit",
});
cpSync(path.join(root, "docs/events"), path.join(built, "catalog"), { recursive: true });
pack(
  built,
  manifestOf(events),
  [
    "@statehouse/proto",
    "@bufbuild/protobuf",
    "@nats-io/transport-node",
    "@nats-io/jetstream",
    "@opentelemetry/api",
  ],
  {
    ...Object.fromEntries(
      ["subscribe", "emitter", "dead-letter-files"].map((name) => [
        `./${name}`,
        { types: `./${name}.d.ts`, default: `./${name}.js` },
      ]),
    ),
    "./catalog/*": "./catalog/*",
  },
);

const messages = path.join(proto, "dist");
rmSync(messages, { recursive: true, force: true });
cpSync(path.join(proto, "gen"), messages, { recursive: true });
pack(messages, manifestOf(proto), ["@bufbuild/protobuf"], {
  "./*": { types: "./*_pb.d.ts", default: "./*_pb.js" },
});
