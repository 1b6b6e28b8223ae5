import type { MinioAddress } from "@statehouse/local-services";
import { describe, inject } from "vitest";

/** Addresses of the dependencies that all tests of a run share. global-setup.ts passes them to the test workers. */
export interface SharedDependencies {
  postgres: { url: string };
  nats: { url: string };
  minio: MinioAddress | undefined;
  /** Path of `terraform` or `tofu`. */
  commandLine: string | undefined;
  /** Path of the program `statehouse`, bundled from its sources. */
  program: string;
  /** For each missing dependency, by its name, the reason why it is missing. */
  missing: Partial<Record<Dependency, string>>;
}

/** Dependencies that can be missing on a machine. */
export type Dependency =
  | "go"
  | "minio"
  | "nats-server"
  | "python client"
  | "release tools"
  | "schemathesis"
  | "terraform";

declare module "vitest" {
  interface ProvidedContext {
    statehouseDependencies: SharedDependencies;
  }
}

let provided: SharedDependencies | undefined;

/** Sets the shared dependencies of this process, for programs that start Statehouse outside vitest. */
export function shareDependencies(dependencies: SharedDependencies): void {
  provided = dependencies;
}

/** Returns the addresses of PostgreSQL, NATS and MinIO of this run. */
export function sharedDependencies(): SharedDependencies {
  // According to its type the value is always set, but it is undefined in projects without the global setup.
  const dependencies: SharedDependencies | undefined = provided ?? inject("statehouseDependencies");
  if (!dependencies) {
    throw new Error(
      "Unit tests run without PostgreSQL, NATS and MinIO; a test that needs them belongs in the folder `test/` of its package.",
    );
  }
  return dependencies;
}

/**
 * Returns the shared NATS, for test files that need one; these files are skipped if nats-server is missing. Services
 * that only need an address use the address in `sharedDependencies`.
 */
export function sharedNats(): SharedDependencies["nats"] {
  const { nats, missing } = sharedDependencies();
  if (missing["nats-server"]) throw new Error(missing["nats-server"]);
  return nats;
}

/** Returns the shared MinIO, for suites under `needs("minio")`. */
export function sharedMinio(): MinioAddress {
  const { minio, missing } = sharedDependencies();
  if (!minio) throw new Error(missing.minio ?? "minio is missing");
  return minio;
}

/** Returns the path of `terraform` or `tofu`, for suites under `needs("terraform")`. */
export function commandLine(): string {
  const { commandLine, missing } = sharedDependencies();
  if (!commandLine) throw new Error(missing.terraform ?? "terraform is missing");
  return commandLine;
}

/**
 * Returns `describe` for a suite that needs these dependencies. If one is missing, the suite is skipped and listed at
 * the end of the run.
 */
export const needs =
  (...dependencies: Dependency[]) =>
  (name: string, suite: () => void): void => {
    const lacking = dependencies.filter((name) => name in sharedDependencies().missing);
    if (lacking.length === 0) describe(name, suite);
    else describe.skip(name, { meta: { missing: lacking } }, suite);
  };
