import { microsOf, microsOfText, textOfMicros } from "@statehouse/audit/time";
import { badRequest } from "@statehouse/errors";
import type { AuditRecord } from "@statehouse/proto/statehouse/audit/v1/audit_record";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { parameter, text } from "../http/query.ts";
import { plainJson } from "../http/rendering.ts";
import { type RequestContext, type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { paginationOf } from "../jsonapi/pagination.ts";
import { organizationIdOf } from "../organization/name-routes.ts";
import { readAuditTrail } from "./merge-routes.ts";

/**
 * Declares a parameter that contains a time. The time is read as microseconds since 1970; 0 if the parameter is absent.
 * Reading throws `badRequest` if the text is not a time.
 */
const time = (name: string, description: string) => ({
  parameters: [
    { name, description, schema: z.union([z.iso.datetime({ offset: true }), z.iso.date()]) },
  ],
  read(query: URLSearchParams): number {
    const value = parameter(query, name);
    if (value === undefined) return 0;
    const micros = microsOfText(value);
    if (micros === undefined) {
      throw badRequest("filter", `${name} must be a time: YYYY-MM-DDTHH:MM:SSZ.`);
    }
    return Math.max(0, micros);
  },
});

const entry = z.object({
  id: z.string(),
  version: z.literal("0"),
  type: z.literal("Resource"),
  timestamp: z.iso.datetime(),
  auth: z.object({
    accessor_id: z.string().nullable(),
    description: z.string(),
    type: z.enum(["Client", "System"]),
    impersonator_id: z.null(),
    organization_id: z.string(),
  }),
  request: z.object({ id: z.string().nullable() }),
  resource: z.object({
    id: z.string().nullable(),
    type: z.string(),
    action: z.string(),
    meta: z.object({
      outcome: z.enum(["succeeded", "refused", "failed"]),
      code: z.string().nullable(),
      attempts: z.int(),
      changed_attributes: z.array(z.string()),
      address: z.string().nullable(),
      token_id: z.string().nullable(),
    }),
  }),
});

const document = z.object({
  data: z.array(entry),
  pagination: z.object({
    current_page: z.int(),
    prev_page: z.int().nullable(),
    next_page: z.int().nullable(),
    total_pages: z.int(),
    total_count: z.int(),
  }),
});

type Outcome = z.infer<typeof entry>["resource"]["meta"]["outcome"];

const outcomes: Readonly<Record<string, Outcome>> = { refused: "refused", failed: "failed" };

/**
 * The types of actors that documents show as clients. All other actors, such as runs and services, are shown as the
 * system.
 */
const clients: ReadonlySet<string> = new Set(["user", "team", "organization"]);

function entryOf(record: AuditRecord): z.infer<typeof entry> {
  const noun = record.action.lastIndexOf(".");
  return {
    id: record.id,
    version: "0",
    type: "Resource",
    // The time contains microseconds, so that clients can send it as `since` without a loss of precision.
    timestamp: textOfMicros(microsOf(record.recordedAt)),
    auth: {
      accessor_id: record.actorId || null,
      description: record.actorType,
      type: clients.has(record.actorType) ? "Client" : "System",
      impersonator_id: null,
      organization_id: record.organizationId,
    },
    request: { id: record.requestId || null },
    resource: {
      id: record.resourceId || null,
      type: record.resourceType,
      action: record.action.slice(noun + 1),
      meta: {
        outcome: outcomes[record.outcome] ?? "succeeded",
        code: record.code || null,
        attempts: record.attempts,
        changed_attributes: record.changedAttributes,
        address: record.address || null,
        token_id: record.tokenId || null,
      },
    },
  };
}

/**
 * Returns the id of the organization that a request with a user token names. For any other token returns an empty
 * string, because the token belongs to one organization.
 */
async function namedOrganization(context: RequestContext, name: string): Promise<string> {
  const ofUser = context.caller.principal.type === "user";
  if (ofUser && name === "") {
    throw badRequest("filter", "filter[organization][name] is required for user tokens.");
  }
  if (!ofUser && name !== "") {
    throw badRequest("filter", "filter[organization][name] is allowed for user tokens only.");
  }
  return ofUser ? organizationIdOf({ ...context, params: { organizationName: name } }) : "";
}

export const auditTrailRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "GET",
    path: "/organization/audit-trail",
    summary: "List the audit trail of the token's organization, oldest first",
    query: {
      page,
      since: time("since", "Only records after this time."),
      organization: text(
        "filter[organization][name]",
        "The name of the organization: required for user tokens, not allowed for other tokens.",
      ),
    },
    success: [200, plainJson(document)],
    failures: [400, 404],
    async handle(input) {
      const { client, caller, query } = input;
      const organizationId = await namedOrganization(input, query.organization);
      const { records, totalCount } = await readAuditTrail({
        client,
        caller,
        organizationId,
        after: query.since,
        page: query.page,
      });
      const pagination = paginationOf(query.page, totalCount);
      return {
        data: records.map(entryOf),
        pagination: {
          current_page: pagination["current-page"],
          prev_page: pagination["prev-page"],
          next_page: pagination["next-page"],
          total_pages: pagination["total-pages"],
          total_count: pagination["total-count"],
        },
      };
    },
  }),
];
