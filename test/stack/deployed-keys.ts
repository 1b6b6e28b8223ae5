import { execFile } from "node:child_process";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import {
  type Environment,
  type ServiceName,
  serviceNames,
} from "@statehouse/standalone/environments";
import { childEnvironment, sharedDependencies, waitFor } from "@statehouse/testing";
import type { ServiceProcess } from "./service-process.ts";

/** The keys of the four service processes, as files that an operator replaces while the processes run. */
export interface DeployedKeys {
  /** Runs `statehouse keys` on the file that contains the keys of all services. */
  keys(...args: string[]): Promise<string>;
  /** Sets secrets of a service that `statehouse keys` does not create. The next `useFiles` or `deploy` writes them. */
  set(service: ServiceName, secrets: Readonly<Record<string, string>>): void;
  /** Changes the settings of the services so that they read all secrets from files. */
  useFiles(environments: Record<ServiceName, Environment>): Promise<void>;
  /** Writes the current keys and secrets to the files, and waits until every process uses the new contents. */
  deploy(processes: Readonly<Record<ServiceName, ServiceProcess>>): Promise<void>;
  /** Returns the path of a deployed file. */
  file(service: ServiceName, setting: string): string;
  /** Returns the content of a deployed file. */
  read(service: ServiceName, setting: string): Promise<string>;
  /** Returns the part of the NATS server's configuration that defines the users. */
  natsUsers(): Promise<string>;
}

const isCertificate = (setting: string): boolean => setting.startsWith("GRPC_");

/** Runs the `statehouse` program with these arguments and settings; returns its output. */
export async function runStatehouse(args: readonly string[], env: Environment): Promise<string> {
  const program = [sharedDependencies().program, ...args];
  const environment = { env: childEnvironment(env) };
  return (await promisify(execFile)(process.execPath, program, environment)).stdout;
}

/** Creates the keys of an installation in `folder`. */
export async function newDeployedKeys(folder: string): Promise<DeployedKeys> {
  const material = path.join(folder, "keys.json");
  const [printed, deployed] = [path.join(folder, "printed"), path.join(folder, "deployed")];
  const elsewhere = new Map<ServiceName, Record<string, string>>();
  const keys = (...args: string[]) => runStatehouse(["keys", ...args], {});
  const file = (service: ServiceName, setting: string) => path.join(deployed, service, setting);
  await keys("new", material);

  /** Replaces the deployed files of a service; returns the names of the settings whose files changed. */
  const replace = async (service: ServiceName): Promise<string[]> => {
    const changed: string[] = [];
    await mkdir(path.join(deployed, service), { recursive: true });
    for (const setting of await readdir(path.join(printed, service))) {
      if (setting === "settings.env") continue;
      const source = path.join(printed, service, setting);
      const before = await readFile(file(service, setting), "utf8").catch(() => "");
      if (before === (await readFile(source, "utf8"))) continue;
      await copyFile(source, file(service, setting));
      changed.push(setting);
    }
    for (const [setting, value] of Object.entries(elsewhere.get(service) ?? {})) {
      const before = await readFile(file(service, setting), "utf8").catch(() => "");
      if (before === value) continue;
      await writeFile(file(service, setting), value);
      changed.push(setting);
    }
    return changed;
  };
  const print = () => keys("print", material, "--format", "files", "--to", printed);

  return {
    keys: (action, ...args) => keys(action ?? "", ...args, material),
    set: (service, secrets) =>
      void elsewhere.set(service, { ...elsewhere.get(service), ...secrets }),
    async useFiles(environments) {
      await print();
      for (const service of serviceNames) {
        const environment = environments[service];
        for (const setting of await replace(service)) {
          delete environment[setting];
          environment[`${setting}_FILE`] = file(service, setting);
        }
      }
    },
    async deploy(processes) {
      await print();
      for (const service of serviceNames) {
        const { output } = processes[service];
        const before = output().length;
        const changed = await replace(service);
        for (const setting of changed) {
          const name = isCertificate(setting) ? `${setting}_FILE` : setting;
          const logged = () => output().slice(before).includes(`"${name}"`);
          await waitFor(logged, { what: `${service} to log the renewal of ${name}` });
        }
      }
    },
    file,
    read: (service, setting) => readFile(file(service, setting), "utf8"),
    natsUsers: () => readFile(path.join(printed, "nats", "users.conf"), "utf8"),
  };
}
