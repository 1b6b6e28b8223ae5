import type {
  TokenTtlPolicy,
  TokenTtlPolicyInputSchema,
  UpdateTokenTtlPoliciesRequestSchema,
} from "@statehouse/proto/statehouse/access/v1/token_ttl_policy";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { listOf } from "../jsonapi/body.ts";
import { attributesOf, type FieldsOf, fieldsIn, type Noun } from "../jsonapi/noun.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalTime } from "../jsonapi/shape.ts";
import { timestamp } from "../timestamps-resource.ts";

const type = "organization-token-ttl-policies";

/** The attributes that clients send for one policy. */
const tokenTtlPolicyNoun: Noun<
  FieldsOf<typeof TokenTtlPolicyInputSchema>,
  TokenTtlPolicy,
  RequestContext
> = {
  type,
  attributes: {
    // Clients also send `audit_trails` for `audit-trails`.
    "token-type": {
      field: "tokenType",
      in: z.string().transform((name) => name.replace("_", "-")),
      shown: z.enum(["user", "team", "organization", "audit-trails"]),
    },
    "max-ttl-ms": {
      field: "maxTtlMs",
      in: z.int().transform(BigInt),
      out: ({ maxTtlMs }) => Number(maxTtlMs),
      shown: z.int(),
    },
  },
};

/** The attributes that clients send to update all policies of an organization together. */
export const tokenTtlPoliciesNoun: Noun<
  FieldsOf<typeof UpdateTokenTtlPoliciesRequestSchema>,
  TokenTtlPolicy,
  RequestContext
> = {
  type,
  attributes: {
    "token-ttl-policies": {
      field: "tokenTtlPolicies",
      in: listOf(fieldsIn(tokenTtlPolicyNoun.attributes, ["token-type", "max-ttl-ms"])),
      writeOnly: true,
    },
  },
};

export const tokenTtlPolicyResource = resource<TokenTtlPolicy, RequestContext>({
  type,
  id: ({ id }) => id,
  attributes: {
    ...attributesOf(tokenTtlPolicyNoun),
    "created-at": [optionalTime, ({ createdAt }) => timestamp(createdAt)],
    "updated-at": [optionalTime, ({ updatedAt }) => timestamp(updatedAt)],
  },
});
