import path from "node:path";
import {
  canBuildPrograms,
  findCommandLine,
  findProgram,
  findPythonProgram,
  type Minio,
  missingProgram,
  missingPythonEnvironment,
  missingReleaseTools,
  type Postgres,
  startMinio,
  startNats,
  startPostgres,
} from "@statehouse/local-services";
import { bundleProgram } from "./bundled-program.ts";
import type { Dependency, MinioAddress, SharedDependencies } from "./dependencies.ts";
import { memoryFolder } from "./memory-folder.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** The dependencies of one run. Disposal stops them. */
export interface StartedDependencies extends AsyncDisposable {
  readonly shared: SharedDependencies;
  readonly postgres: Postgres;
}

export interface StartDependenciesOptions {
  /** Whether PostgreSQL skips waiting for the disk, and all data is in memory if the machine has enough. */
  fast: boolean;
}

/** Starts the dependencies that several sets of services share, in a separate folder. */
export async function startDependencies({
  fast,
}: StartDependenciesOptions): Promise<StartedDependencies> {
  const missing = missingDependencies();
  const stack = new AsyncDisposableStack();
  const { path: folder } = stack.use(await temporaryFolder(fast ? memoryFolder() : undefined));
  /**
   * Registers each dependency as soon as it has started, so that it is stopped even if another dependency fails to
   * start.
   */
  const use = async <T extends AsyncDisposable>(starting: Promise<T>) => stack.use(await starting);
  const starting = [
    use(startPostgres({ dataDirectory: path.join(folder, "postgres"), fast })),
    missing["nats-server"]
      ? undefined
      : use(startNats({ dataDirectory: path.join(folder, "nats") })),
    missing.minio ? undefined : use(startMinio({ dataDirectory: path.join(folder, "minio") })),
    bundleProgram(),
  ] as const;
  try {
    const [postgres, nats, minio, program] = await Promise.all(starting);
    return {
      postgres,
      shared: {
        postgres: { url: postgres.url("postgres") },
        // Nothing listens on port 1: without nats-server, services run without their bus.
        nats: { url: nats?.url ?? "nats://127.0.0.1:1" },
        minio: minio && addressOf(minio),
        commandLine: findCommandLine(),
        program,
        missing,
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await Promise.allSettled(starting);
    await stack.disposeAsync();
    throw error;
  }
}

const addressOf = ({ endpoint, region, accessKey, secretKey }: Minio): MinioAddress => ({
  endpoint,
  region,
  accessKey,
  secretKey,
});

/** Returns the dependencies that are missing on this machine, each with instructions to install it. */
export function missingDependencies(): Partial<Record<Dependency, string>> {
  const releaseTools = missingReleaseTools();
  return {
    ...(releaseTools === undefined ? {} : { "release tools": releaseTools }),
    ...(findPythonProgram("schemathesis", "python")
      ? {}
      : { schemathesis: missingPythonEnvironment("schemathesis") }),
    ...(findPythonProgram("python-client", "python")
      ? {}
      : { "python client": missingPythonEnvironment("python-client") }),
    ...(findProgram("nats-server") ? {} : { "nats-server": missingProgram("nats-server") }),
    ...(findProgram("minio") ? {} : { minio: missingProgram("minio") }),
    ...(findCommandLine()
      ? {}
      : { terraform: "terraform is missing: install it, or tofu, so that it is on PATH." }),
    ...(canBuildPrograms()
      ? {}
      : { go: "go is missing: install it (https://go.dev/dl) so that it is on PATH." }),
  };
}
