import type { JsonObject } from "@bufbuild/protobuf";
import { z } from "zod";

/** Whatever JSON says of a permission; which values each has is access's to know. */
export const permissionValue = z.union([z.string(), z.boolean(), z.number(), z.null()]);

/** Permissions as access takes them: below their prefix, and without nulls, which say nothing. */
export const permissionsOf = (
  prefix: string,
  attributes: Readonly<Record<string, unknown>> = {},
): JsonObject =>
  Object.fromEntries(
    Object.entries(attributes)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [`${prefix}${name}`, value]),
  ) as JsonObject;
