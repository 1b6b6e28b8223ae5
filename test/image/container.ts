import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type FollowedProcess, followProcess, temporaryFolder } from "@statehouse/testing";
import { buildah } from "./buildah.ts";

/** The configuration that an image contains. */
interface ImageConfiguration {
  User?: string;
  Env: string[];
  Entrypoint?: string[];
  WorkingDir?: string;
  Labels?: Record<string, string>;
}

/** An image whose file system is mounted, so that containers of it can run. */
export interface MountedImage extends AsyncDisposable {
  readonly configuration: ImageConfiguration;
  /** The digests of the image's layers; those of the base image come first. */
  readonly layers: readonly string[];
  /** The folder in which the image's file system is mounted. */
  readonly files: string;
  /** Starts a container. */
  start(options: ContainerOptions): Promise<Container>;
}

export interface ContainerOptions {
  /** The arguments of the entry point. */
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Replaces the entry point of the image. */
  entrypoint?: readonly string[];
  /** Replaces the user of the image. */
  user?: { uid: number; gid: number };
  /** Files of the machine that the container can read at the same path. */
  files?: readonly string[];
  /** Files and folders of the machine, keyed by their path in the container; they are writable. */
  volumes?: Readonly<Record<string, string>>;
  /** The capabilities of the process; default: none. */
  capabilities?: readonly string[];
  /** The file for `/etc/hosts`; default: that of the machine, because the container shares the machine's network. */
  hosts?: string;
}

/** A container; its process has the process id 1. */
export interface Container extends FollowedProcess, AsyncDisposable {
  /** Sends a signal to process 1. */
  signal(name: "KILL" | "TERM"): Promise<void>;
  /** Returns the process id that process 1 of the container has on the machine. */
  pid(): Promise<number>;
  /** Runs a program in the container; resolves with its exit code and output. */
  exec(...args: string[]): Promise<{ code: number; output: string }>;
}

/** Mounts an image from the storage of these tests. */
export async function mountImage(image: string): Promise<MountedImage> {
  const container = await buildah("from", image);
  const files = await buildah("mount", container);
  const inspected = JSON.parse(await buildah("inspect", "--type=image", image));
  const { config: configuration, rootfs } = inspected.OCIv1;
  const folder = await temporaryFolder();
  return {
    configuration,
    layers: rootfs.diff_ids,
    files,
    start: (options) => startContainer({ configuration, files, folder: folder.path }, options),
    [Symbol.asyncDispose]: async () => {
      await folder[Symbol.asyncDispose]();
      await buildah("rm", container);
    },
  };
}

async function startContainer(
  image: { configuration: ImageConfiguration; files: string; folder: string },
  options: ContainerOptions,
): Promise<Container> {
  const id = `statehouse-test-${randomBytes(6).toString("hex")}`;
  const bundle = path.join(image.folder, id);
  await mkdir(bundle);
  await writeFile(
    path.join(bundle, "config.json"),
    JSON.stringify(runtimeConfiguration(image, options)),
  );
  const runtime = (...args: string[]) => startRuntime(path.join(image.folder, "state"), args);
  const main = runtime("run", "--bundle", bundle, id);
  const command = async (...args: string[]) => {
    const { exit, output } = runtime(...args);
    if ((await exit) !== 0) throw new Error(`crun ${args.join(" ")}: ${output()}`);
    return output();
  };
  const signal = async (name: "KILL" | "TERM") => void (await command("kill", id, name));
  return {
    ...main,
    signal,
    pid: async () => JSON.parse(await command("state", id)).pid,
    async exec(...args) {
      const { exit, output } = runtime("exec", id, ...args);
      return { code: await exit, output: output() };
    },
    [Symbol.asyncDispose]: async () => {
      if (main.running()) await signal("KILL").catch(() => {});
      await main.exit;
    },
  };
}

/**
 * Starts crun. It refuses machines that have control groups of both version 1 and version 2, so version 2 is hidden
 * from it. The containers have no control groups.
 */
function startRuntime(state: string, args: readonly string[]) {
  const withoutVersion2 = 'umount --lazy /sys/fs/cgroup/unified 2>/dev/null; exec crun "$@"';
  const child = spawn(
    "unshare",
    ["--mount", "sh", "-c", withoutVersion2, "sh"].concat(
      ["--root", state, "--cgroup-manager=disabled"],
      args,
    ),
    { stdio: ["ignore", "pipe", "pipe"] },
  );
  return followProcess(child);
}

/** Returns the configuration of the runtime: what Kubernetes calls "restricted", with a read-only root file system. */
function runtimeConfiguration(
  { configuration, files: root }: { configuration: ImageConfiguration; files: string },
  {
    args,
    env = {},
    entrypoint,
    user,
    files = [],
    volumes = {},
    capabilities = [],
    hosts = "/etc/hosts",
  }: ContainerOptions,
) {
  const [uid = 0, gid = 0] = (configuration.User ?? "").split(":").map(Number);
  return {
    ociVersion: "1.0.2",
    root: { path: root, readonly: true },
    process: {
      terminal: false,
      user: user ?? { uid, gid },
      args: [...(entrypoint ?? configuration.Entrypoint ?? []), ...args],
      env: [...configuration.Env, ...Object.entries(env).map((pair) => pair.join("="))],
      cwd: configuration.WorkingDir ?? "/",
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
      noNewPrivileges: true,
    },
    mounts: [
      {
        destination: "/proc",
        type: "proc",
        source: "proc",
        options: ["nosuid", "noexec", "nodev"],
      },
      {
        destination: "/dev",
        type: "tmpfs",
        source: "tmpfs",
        options: ["nosuid", "noexec", "mode=755", "size=65536k"],
      },
      {
        destination: "/tmp",
        type: "tmpfs",
        source: "tmpfs",
        options: ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"],
      },
      ...Object.entries({ "/etc/hosts": hosts, "/etc/resolv.conf": "/etc/resolv.conf" }).map(
        ([destination, source]) => ({ destination, type: "bind", source, options: ["bind", "ro"] }),
      ),
      ...files.map((file) => ({
        destination: file,
        type: "bind",
        source: file,
        options: ["bind", "ro"],
      })),
      ...Object.entries(volumes).map(([destination, source]) => ({
        destination,
        type: "bind",
        source,
        options: ["rbind", "nosuid", "nodev"],
      })),
    ],
    linux: {
      namespaces: [...["pid", "mount", "ipc", "uts"].map((type) => ({ type }))],
      maskedPaths: ["/proc/kcore", "/proc/keys", "/proc/sysrq-trigger"],
      readonlyPaths: ["/proc/sys", "/proc/bus"],
    },
  };
}
