import type { JsonObject } from "@bufbuild/protobuf";
import { z } from "zod";

/** The value of a permission in a body. The access service validates it. */
export const permissionValue = z.union([z.string(), z.boolean(), z.number(), z.null()]);

/**
 * Adds `prefix`, which the access service expects, to the names of the permissions. Nulls have no effect and are
 * omitted.
 */
export const permissionsOf = (
  prefix: string,
  attributes: Readonly<Record<string, unknown>> = {},
): JsonObject =>
  Object.fromEntries(
    Object.entries(attributes)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [`${prefix}${name}`, value]),
  ) as JsonObject;
