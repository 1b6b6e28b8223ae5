import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { cacheFolder, withLock } from "@statehouse/local-services";
import { afterAll, beforeAll } from "vitest";
import { filesOfRepository } from "../release/copy-of-repository.ts";
import { buildImage } from "./build-image.ts";
import { buildah } from "./buildah.ts";
import { type MountedImage, mountImage } from "./container.ts";

/** The time limit is long, because on a new machine the base images are built first. */
export const BUILD_MS = 1_800_000;

const root = path.resolve(import.meta.dirname, "../..");
const repository = "localhost/statehouse-test";

export interface BuiltImage extends MountedImage {
  readonly name: string;
  /** The path of the file that contains the image's bill of materials. */
  readonly bom: string;
}

/** Provides the image of this repository to the tests of a file. */
export function useImage(): () => BuiltImage {
  let built: BuiltImage | undefined;
  beforeAll(async () => {
    const image = await currentImage();
    built = { ...(await mountImage(image.name)), ...image };
  }, BUILD_MS);
  afterAll(() => built?.[Symbol.asyncDispose]());
  return () => {
    if (!built) throw new Error("the image is available in tests only");
    return built;
  };
}

/**
 * Builds the image if there is none for the current files and commit; removes the images of earlier files and commits.
 */
async function currentImage(): Promise<{ name: string; bom: string }> {
  const hash = createHash("sha256").update(execFileSync("git", ["rev-parse", "HEAD"]));
  const context =
    /^(\.dockerignore|\.npmrc|package(-lock)?\.json|LICENSE|buf\.|deploy\/image\/|packages\/|proto\/|services\/)/;
  for (const file of filesOfRepository()) {
    if (context.test(file)) hash.update(`${file}\0`).update(readFileSync(path.join(root, file)));
  }
  const version = hash.digest("hex").slice(0, 12);
  const name = `${repository}:${version}`;
  const bom = path.join(cacheFolder(), "image", `bom-${version}.json`);
  await withLock("image", async () => {
    if (await buildah("images", "--quiet", name).catch(() => "")) return;
    const earlier = await buildah("images", "--quiet", `--filter=reference=${repository}`);
    for (const id of earlier.split("\n").filter(Boolean)) {
      // The removal fails while another run uses the image.
      await buildah("rmi", id).catch(() => {});
    }
    await buildImage(root, { tag: name, bom });
  });
  return { name, bom };
}
