import type { Environment, ServiceName } from "@statehouse/standalone/environments";
import { readiness } from "../stack/processes.ts";
import type { ServiceProcess } from "../stack/service-process.ts";
import type { Container, MountedImage } from "./container.ts";

/** Returns the paths of the files to which settings refer. */
export const filesOf = (environment: Environment): string[] => [
  ...new Set(
    Object.entries(environment).flatMap(([name, value]) => (name.endsWith("_FILE") ? [value] : [])),
  ),
];

/** Returns a service as a container, without starting it. The container shares the network of the machine. */
export const containerProcess =
  (image: () => MountedImage) =>
  (name: ServiceName, environment: Environment): ServiceProcess => {
    let started: Container | undefined;
    let pid = 0;
    const end = async (signal: "KILL" | "TERM") => {
      if (!started?.running()) return null;
      await started.signal(signal);
      return started.exit;
    };
    return {
      name,
      environment,
      get running() {
        return started?.running() === true;
      },
      output: () => started?.output() ?? "",
      pid: () => pid,
      kill: async () => void (await end("KILL")),
      terminate: () => end("TERM"),
      async start() {
        const container = await image().start({
          args: [name],
          env: environment,
          files: filesOf(environment),
        });
        started = container;
        await readiness(name, environment, container);
        pid = await container.pid();
      },
      [Symbol.asyncDispose]: async () => {
        await started?.[Symbol.asyncDispose]();
      },
    };
  };
