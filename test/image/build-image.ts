import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { temporaryFolder } from "@statehouse/testing";
import { baseImage, builderImage } from "./base-images.ts";
import { run } from "./buildah.ts";

/** Builds the Dockerfile of `repository` as a release does, on the images of base-images.ts; returns the image's id. */
export async function buildImage(
  repository: string,
  { tag, bom, options = [] }: { tag: string; bom?: string; options?: readonly string[] },
): Promise<string> {
  await using folder = await temporaryFolder();
  return await run(
    process.execPath,
    path.join(repository, "deploy/image/build.mjs"),
    `--base=${await baseImage()}`,
    `--builder=${await builderImage()}`,
    `--tag=${tag}`,
    ...(bom ? [`--sbom=${bom}`] : []),
    "--",
    "--network=host",
    ...(await registryOptions(folder.path)),
    ...options,
  );
}

/**
 * Returns the options with which npm reaches its registry on this machine and uses its cache. Neither the settings nor
 * the cache remain in the image.
 */
async function registryOptions(folder: string): Promise<string[]> {
  const setting = async (name: string) => {
    const value = await run("npm", "config", "get", name);
    return ["null", "undefined", ""].includes(value) ? undefined : value;
  };
  const lines = [`registry=${await setting("registry")}`];
  const mounts = [`--volume=${await setting("cache")}:/root/.npm`];
  const authority = (await setting("cafile")) ?? process.env.NODE_EXTRA_CA_CERTS;
  if (authority && existsSync(authority)) {
    mounts.push(`--volume=${authority}:/run/registry-ca.crt:ro`);
    lines.push("cafile=/run/registry-ca.crt");
  }
  const file = path.join(folder, "npmrc");
  await writeFile(file, `${lines.join("\n")}\n`);
  return [...mounts, `--volume=${file}:/root/.npmrc:ro`];
}
