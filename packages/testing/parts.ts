import { describe, inject } from "vitest";

/** Where the parts that all tests of a run share listen; handed to the workers by global-setup.ts. */
export interface SharedParts {
  postgres: { url: string };
  nats: { url: string };
  minio: MinioAddress | undefined;
  /** Path of terraform or tofu. */
  commandLine: string | undefined;
  /** Why a part is not there, by its name. */
  missing: Partial<Record<NeededPart, string>>;
}

export interface MinioAddress {
  endpoint: string;
  region: string;
  accessKey: string;
  secretKey: string;
}

/** What a user's machine may lack. */
export type NeededPart = "minio" | "nats-server" | "terraform";

declare module "vitest" {
  interface ProvidedContext {
    statehouseParts: SharedParts;
  }
}

let handedOver: SharedParts | undefined;

/** For programs that run stacks outside vitest: from now on these are the shared parts of this process. */
export function shareParts(parts: SharedParts): void {
  handedOver = parts;
}

/** PostgreSQL, NATS and MinIO of this run. */
export function sharedParts(): SharedParts {
  // Typed as always there, but undefined in projects without the global setup.
  const parts: SharedParts | undefined = handedOver ?? inject("statehouseParts");
  if (!parts) {
    throw new Error(
      "Unit tests run without PostgreSQL, NATS and MinIO; a test that needs them belongs into the folder `test/` of its package.",
    );
  }
  return parts;
}

/** The shared MinIO, for suites under `needs("minio")`. */
export function sharedMinio(): MinioAddress {
  const { minio, missing } = sharedParts();
  if (!minio) throw new Error(missing.minio ?? "minio is missing");
  return minio;
}

/** Path of terraform or tofu, for suites under `needs("terraform")`. */
export function commandLine(): string {
  const { commandLine, missing } = sharedParts();
  if (!commandLine) throw new Error(missing.terraform ?? "terraform is missing");
  return commandLine;
}

/** `describe` for a suite that needs these parts: skipped, and named at the end of the run, where one is missing. */
export const needs =
  (...parts: NeededPart[]) =>
  (name: string, suite: () => void): void => {
    const lacking = parts.filter((part) => part in sharedParts().missing);
    if (lacking.length === 0) describe(name, suite);
    else describe.skip(`${name} (needs ${lacking.join(" and ")})`, suite);
  };
