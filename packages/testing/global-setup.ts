import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { TestProject } from "vitest/node";
import { type Minio, startMinio } from "../../deploy/local/minio.ts";
import { startNats } from "../../deploy/local/nats.ts";
import { findCommandLine, findPart, missingPart } from "../../deploy/local/parts.mjs";
import { startPostgres } from "../../deploy/local/postgres.ts";
import type { MinioAddress, NeededPart } from "./parts.ts";

/** Starts the parts all test files share, once for the run. With CI=true a missing part fails the run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const missing = missingParts();
  if (process.env.CI === "true" && Object.keys(missing).length > 0) {
    throw new Error(Object.values(missing).join(" "));
  }
  const stack = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), "statehouse-tests-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  /** So that what has started is stopped even if its neighbour fails. */
  const use = async <T extends AsyncDisposable>(part: Promise<T>) => stack.use(await part);
  const starting = [
    use(startPostgres({ dataDirectory: path.join(folder, "postgres"), fast: true })),
    use(startNats({ dataDirectory: path.join(folder, "nats") })),
    missing.minio ? undefined : use(startMinio({ dataDirectory: path.join(folder, "minio") })),
  ] as const;
  try {
    const [postgres, nats, minio] = await Promise.all(starting);
    project.provide("statehouseParts", {
      postgres: { url: postgres.url("postgres") },
      nats: { url: nats.url },
      minio: minio && addressOf(minio),
      commandLine: findCommandLine(),
      missing,
    });
  } catch (error) {
    await Promise.allSettled(starting);
    await stack.disposeAsync();
    throw error;
  }
  return () => stack.disposeAsync();
}

const addressOf = ({ endpoint, region, accessKey, secretKey }: Minio): MinioAddress => ({
  endpoint,
  region,
  accessKey,
  secretKey,
});

function missingParts(): Partial<Record<NeededPart, string>> {
  return {
    ...(findPart("minio") ? {} : { minio: missingPart("minio") }),
    ...(findCommandLine()
      ? {}
      : { terraform: "terraform is missing: install it, or tofu, so that it is on PATH." }),
  };
}
