import { execFile } from "node:child_process";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { cacheFolder } from "@statehouse/local-services";

const execute = promisify(execFile);

/** Where the images of these tests are stored. The machine's own images are not touched. */
const storage = path.join(cacheFolder(), "containers");

/**
 * The environment of buildah. Isolation by chroot works as root on every machine, even inside a container. The file of
 * the storage is replaced as a whole, because another process of the tests can read it at the same time, and buildah
 * would accept a partly written file as other settings.
 */
export function buildahEnvironment(): NodeJS.ProcessEnv {
  mkdirSync(storage, { recursive: true });
  const file = path.join(storage, "storage.conf");
  const own = `${file}.${process.pid}`;
  writeFileSync(
    own,
    `[storage]\ndriver = "overlay"\ngraphroot = "${storage}/images"\nrunroot = "${storage}/run"\n`,
  );
  renameSync(own, file);
  return { ...process.env, CONTAINERS_STORAGE_CONF: file, BUILDAH_ISOLATION: "chroot" };
}

/** Runs a program in the environment of buildah; returns what it printed. */
export async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout } = await execute(command, args, {
    env: buildahEnvironment(),
    maxBuffer: 64 * 2 ** 20,
  });
  return stdout.trim();
}

export const buildah = (...args: string[]): Promise<string> => run("buildah", ...args);
