import type { JsonObject } from "@bufbuild/protobuf";
import { z } from "zod";

/** Any JSON value of a permission; access validates it. */
export const permissionValue = z.union([z.string(), z.boolean(), z.number(), z.null()]);

/** Permissions with the prefix that access uses, without nulls, which have no effect. */
export const permissionsOf = (
  prefix: string,
  attributes: Readonly<Record<string, unknown>> = {},
): JsonObject =>
  Object.fromEntries(
    Object.entries(attributes)
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => [`${prefix}${name}`, value]),
  ) as JsonObject;
