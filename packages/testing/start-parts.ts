import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  findCommandLine,
  findPart,
  type Minio,
  missingPart,
  type Postgres,
  startMinio,
  startNats,
  startPostgres,
} from "@statehouse/local-services";
import type { MinioAddress, NeededPart, SharedParts } from "./parts.ts";

/** The dependencies of one run, and their disposal. */
export interface StartedParts extends AsyncDisposable {
  readonly parts: SharedParts;
  readonly postgres: Postgres;
}

export interface StartPartsOptions {
  /** PostgreSQL does not wait for the disk. */
  fast: boolean;
}

/** Starts the dependencies that stacks share, in a separate folder. */
export async function startParts({ fast }: StartPartsOptions): Promise<StartedParts> {
  const missing = missingParts();
  const stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), "statehouse-tests-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  /** So that a started one is stopped even if another fails. */
  const use = async <T extends AsyncDisposable>(part: Promise<T>) => stack.use(await part);
  const starting = [
    use(startPostgres({ dataDirectory: path.join(folder, "postgres"), fast })),
    missing["nats-server"]
      ? undefined
      : use(startNats({ dataDirectory: path.join(folder, "nats") })),
    missing.minio ? undefined : use(startMinio({ dataDirectory: path.join(folder, "minio") })),
  ] as const;
  try {
    const [postgres, nats, minio] = await Promise.all(starting);
    return {
      postgres,
      parts: {
        postgres: { url: postgres.url("postgres") },
        // A port where nothing listens: services run without their bus.
        nats: { url: nats?.url ?? "nats://127.0.0.1:1" },
        minio: minio && addressOf(minio),
        commandLine: findCommandLine(),
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

/** What is missing on this machine, and how to install it. */
export function missingParts(): Partial<Record<NeededPart, string>> {
  return {
    ...(findPart("nats-server") ? {} : { "nats-server": missingPart("nats-server") }),
    ...(findPart("minio") ? {} : { minio: missingPart("minio") }),
    ...(findCommandLine()
      ? {}
      : { terraform: "terraform is missing: install it, or tofu, so that it is on PATH." }),
  };
}
