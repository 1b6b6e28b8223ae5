import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { childEnvironment, type FollowedProcess, followProcess } from "@statehouse/testing";
import type { PodSpec } from "../chart/helm.ts";
import type { Secret } from "../kubernetes/installation.ts";

/** A running process of a pod. */
export interface Process extends FollowedProcess {
  signal(name: "KILL" | "TERM"): void;
}

export interface ProcessOptions {
  /** The path of the command-line program, which runs in place of the image. */
  program: string;
  secrets: readonly Secret[];
  /** A folder for the volumes of this process. */
  folder: string;
  /** The address of the pod. The process listens on this address, on the ports that the chart defines. */
  ip: string;
  /** The file that replaces /etc/hosts of the pod. */
  hosts: string;
  /** The file that replaces /etc/resolv.conf of the pod. */
  resolver: string;
}

const SETTINGS = "/etc/statehouse/settings";

/** Starts the container of a rendered pod as a process, with the rendered arguments, environment and Secrets. */
export function startProcess(
  spec: PodSpec,
  { program, secrets, folder, ip, hosts, resolver }: ProcessOptions,
  args?: readonly string[],
): Process {
  const [container] = spec.containers;
  if (!container) throw new Error("the pod has no container");
  const settings = writeSettings(spec, secrets, folder);
  const environment = container.env.map(({ name, value = "" }) => [
    name,
    value.startsWith(SETTINGS) ? value.replace(SETTINGS, settings) : value,
  ]);
  const mounts =
    'mount --bind "$0" /etc/hosts && mount --bind "$1" /etc/resolv.conf && shift && exec "$@"';
  const command = [hosts, resolver, process.execPath, program, ...(args ?? container.args)];
  const child = spawn("unshare", ["--mount", "sh", "-c", mounts, ...command], {
    env: childEnvironment({ ...Object.fromEntries(environment), HOST: ip }),
    stdio: ["ignore", "pipe", "pipe"],
  });
  return { ...followProcess(child), signal: (name) => void child.kill(`SIG${name}`) };
}

/** Writes the volume `settings`, as the kubelet does, and returns its folder. */
function writeSettings(spec: PodSpec, secrets: readonly Secret[], folder: string): string {
  const settings = path.join(folder, "settings");
  mkdirSync(settings, { recursive: true });
  const volume = spec.volumes.find(({ name }) => name === "settings");
  for (const { secret } of volume?.projected?.sources ?? []) {
    const found = secrets.find(({ metadata }) => metadata.name === secret.name);
    for (const item of secret.items) {
      const value = found?.stringData[item.key];
      if (value === undefined) throw new Error(`Secret ${secret.name} has no ${item.key}`);
      writeFileSync(path.join(settings, item.path), value);
    }
  }
  return settings;
}
