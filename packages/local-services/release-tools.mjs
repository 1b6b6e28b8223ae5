import { spawnSync } from "node:child_process";
import { Failure } from "./failure.mjs";
import { longStep } from "./long-step.mjs";
import { findOnPath } from "./programs.mjs";

/**
 * The programs of the release tests, with the Debian packages that contain them: gpg, the browser, the pooler, the
 * proxies that stand for ingress controllers, and the programs that build and run the image without a daemon.
 */
const releaseTools = {
  buildah: "buildah",
  chromium: "chromium",
  crun: "crun",
  gpg: "gpg",
  "gpg-agent": "gpg-agent",
  haproxy: "haproxy",
  ip: "iproute2",
  mmdebstrap: "mmdebstrap",
  nginx: "nginx",
  pgbouncer: "pgbouncer",
  unshare: "util-linux",
};
const packages = Object.values(releaseTools);

/** Returns why the release tests cannot run on this machine, with advice; undefined if they can. */
export function missingReleaseTools() {
  const missing = Object.keys(releaseTools).filter((name) => findOnPath(name) === undefined);
  if (missing.length === 0 && isRoot()) return undefined;
  const what = [
    ...missing.map((name) => `${name} is missing`),
    ...(isRoot() ? [] : ["this user is not root"]),
  ];
  return `The release tests cannot run here: ${what.join(", ")}. On Debian or Ubuntu, run the tests as root: then ${packages.join(", ")} are installed by apt-get.`;
}

/** Installs the missing programs, if this machine has apt-get and the user is root. Throws Failure. */
export async function provideReleaseTools() {
  if (missingReleaseTools() === undefined) return;
  const apt = findOnPath("apt-get");
  if (!apt || !isRoot()) throw new Failure(missingReleaseTools() ?? "");
  // Another process can be using apt-get.
  const lock = ["-o", "DPkg::Lock::Timeout=600"];
  spawnSync(apt, [...lock, "update", "-q"], { stdio: "ignore" });
  await longStep({
    title: `Installing ${packages.join(", ")} (once, about a minute)`,
    command: apt,
    args: [...lock, "install", "-qy", "--no-install-recommends", ...packages],
    cwd: "/",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    logName: "apt-get-release-tools",
  });
}

const isRoot = () => process.getuid?.() === 0;
