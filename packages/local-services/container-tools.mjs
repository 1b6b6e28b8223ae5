import { spawnSync } from "node:child_process";
import { Failure } from "./failure.mjs";
import { longStep } from "./long-step.mjs";
import { findOnPath } from "./programs.mjs";

/** The programs with which test/image builds and runs the image without a daemon, and their Debian packages. */
const containerTools = {
  buildah: "buildah",
  crun: "crun",
  ip: "iproute2",
  mmdebstrap: "mmdebstrap",
  unshare: "util-linux",
};
const packages = Object.values(containerTools);

/** Why the image cannot be built and run on this machine, with advice; undefined if it can. */
export function missingContainerTools() {
  const missing = Object.keys(containerTools).filter((name) => findOnPath(name) === undefined);
  if (missing.length === 0 && isRoot()) return undefined;
  const what = [
    ...missing.map((name) => `${name} is missing`),
    ...(isRoot() ? [] : ["this user is not root"]),
  ];
  return `The image cannot be built and run here: ${what.join(", ")}. On Debian or Ubuntu, run the tests as root: then ${packages.join(", ")} are installed by apt-get.`;
}

/** Installs what is missing, where apt-get and root can. Throws Failure. */
export async function provideContainerTools() {
  if (missingContainerTools() === undefined) return;
  const apt = findOnPath("apt-get");
  if (!apt || !isRoot()) throw new Failure(missingContainerTools() ?? "");
  // Another process can be using apt-get.
  const lock = ["-o", "DPkg::Lock::Timeout=600"];
  spawnSync(apt, [...lock, "update", "-q"], { stdio: "ignore" });
  await longStep({
    title: `Installing ${packages.join(", ")} (once, about half a minute)`,
    command: apt,
    args: [...lock, "install", "-qy", "--no-install-recommends", ...packages],
    cwd: "/",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    logName: "apt-get-container-tools",
  });
}

const isRoot = () => process.getuid?.() === 0;
