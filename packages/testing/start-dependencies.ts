import path from "node:path";
import {
  canBuildPrograms,
  findCommandLine,
  findProgram,
  findPythonProgram,
  type Minio,
  type MinioAddress,
  missingProgram,
  missingPythonEnvironment,
  missingReleaseTools,
  type Postgres,
  startMinio,
  startNats,
  startPostgres,
} from "@statehouse/local-services";
import { bundleProgram } from "./bundled-program.ts";
import type { Dependency, SharedDependencies } from "./dependencies.ts";
import { memoryFolder } from "./memory-folder.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** The dependencies of one run. Disposal stops them. */
export interface StartedDependencies extends AsyncDisposable {
  readonly shared: SharedDependencies;
  readonly postgres: Postgres;
}

/**
 * Starts the dependencies that several sets of services share, in a separate folder. With `fast`, PostgreSQL does not
 * wait for the disk, and all data is in memory if the machine has enough.
 */
export async function startDependencies({ fast }: { fast: boolean }): Promise<StartedDependencies> {
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
  const reasons: Record<Dependency, string | false | undefined> = {
    "release tools": missingReleaseTools(),
    schemathesis:
      !findPythonProgram("schemathesis", "python") && missingPythonEnvironment("schemathesis"),
    "python client":
      !findPythonProgram("python-client", "python") && missingPythonEnvironment("python-client"),
    "nats-server": !findProgram("nats-server") && missingProgram("nats-server"),
    minio: !findProgram("minio") && missingProgram("minio"),
    terraform:
      !findCommandLine() && "terraform is missing: install it, or tofu, so that it is on PATH.",
    go:
      !canBuildPrograms() && "go is missing: install it (https://go.dev/dl) so that it is on PATH.",
  };
  return Object.fromEntries(
    Object.entries(reasons).flatMap(([name, reason]) => (reason ? [[name, reason]] : [])),
  );
}
