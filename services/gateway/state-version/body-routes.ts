import { createHash } from "node:crypto";
import { z } from "zod";
import {
  documentBody,
  linkage,
  optional,
  requiredLinkage,
  section,
  typeOf,
} from "../jsonapi/body.ts";
import { describedAs } from "../jsonapi/shape.ts";

/** Bytes in base64, which may contain line breaks. */
const bytes = describedAs(
  z.string().transform((text, context) => {
    try {
      return Uint8Array.fromBase64(text);
    } catch {
      context.addIssue({ code: "custom", message: "is not valid Base64" });
      return z.NEVER;
    }
  }),
  (text) => ({ ...text, contentEncoding: "base64" }),
);

const md5Of = (content: Uint8Array) => createHash("md5").update(content).digest("hex");

const attributes = z
  .object({
    serial: z.int().min(0),
    md5: z.string().regex(/^[0-9a-fA-F]{32}$/),
    lineage: optional(z.string()),
    force: optional(z.boolean()),
    state: optional(bytes),
    "json-state": optional(bytes),
    "json-state-outputs": optional(bytes),
  })
  .superRefine(({ state, md5, "json-state": jsonState }, context) => {
    const problem = (name: string, message: string) =>
      context.addIssue({ code: "custom", path: [name], message });
    if (jsonState?.length === 0) problem("json-state", "must not be empty");
    if (state?.length === 0) problem("state", "must not be empty");
    else if (state && md5Of(state) !== md5.toLowerCase()) {
      problem("md5", "does not match the state that was given");
    }
  });

/** The body of a rollback, which names the state version that the rollback copies. */
export const rollbackStateVersionBody = documentBody(
  z.object({
    type: typeOf("state-versions"),
    relationships: section(
      z.object({ "rollback-state-version": requiredLinkage("state-versions") }),
    ),
  }),
);

/** The body that creates a state version, with or without inline state. */
export const createStateVersionBody = documentBody(
  z.object({
    type: typeOf("state-versions"),
    attributes: section(attributes),
    relationships: section(z.object({ run: linkage("runs") })),
  }),
);
