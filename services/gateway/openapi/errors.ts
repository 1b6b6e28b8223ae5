import type { JsonSchema } from "../jsonapi/shape.ts";

interface Failure {
  readonly name: string;
  readonly description: string;
  /** The values of `code` in errors with this status. */
  readonly codes: readonly string[];
  readonly headers?: readonly string[];
}

/** The failures that responses can report, by status. */
const failures: Readonly<Record<number, Failure>> = {
  400: {
    name: "BadRequest",
    description:
      "The query or the body cannot be parsed, or the resource's status does not allow the action.",
    codes: [
      "content_truncated",
      "filter",
      "json",
      "page",
      "parameter",
      "principal",
      "sort",
      "target_type",
      "token",
      "transition_not_allowed",
      "unknown_include",
      "unstorable_text",
    ],
  },
  401: {
    name: "Unauthorized",
    description: "The token is missing, unknown or no longer valid.",
    codes: ["unauthenticated"],
    headers: ["WWW-Authenticate"],
  },
  403: {
    name: "Forbidden",
    description: "The caller may see the resource, but is not allowed to perform this action.",
    codes: ["cannot_hold_lock", "credential_not_allowed", "not_allowed", "users_only"],
  },
  404: {
    name: "NotFound",
    description:
      "The resource does not exist, or the caller is not allowed to see it or to perform this action.",
    codes: ["not_found"],
  },
  405: {
    name: "MethodNotAllowed",
    description: "The path does not support this method.",
    codes: ["method_not_allowed"],
    headers: ["Allow"],
  },
  408: {
    name: "RequestTimeout",
    description: "The body did not arrive in time.",
    codes: ["request_timeout"],
  },
  409: {
    name: "Conflict",
    description: "The current state of the resource does not allow this request.",
    codes: [
      "agent_pool_in_use",
      "already_unlocked",
      "backing_data_deleted",
      "default_project",
      "last_administrator",
      "last_owner",
      "lineage_conflict",
      "locked_by_other",
      "lock_sealed",
      "manages_resources",
      "md5_mismatch",
      "not_comparable",
      "owners_team",
      "project_not_empty",
      "rollback_without_content",
      "run_of_other_workspace",
      "serial_conflict",
      "serials_exhausted",
      "state_being_processed",
      "state_not_taken",
      "state_version_discarded",
      "state_version_superseded",
      "upload_used",
      "workspace_locked",
      "workspace_not_locked",
    ],
  },
  412: {
    name: "PreconditionFailed",
    description: "The caller must lock the workspace first.",
    codes: ["workspace_not_locked"],
  },
  413: {
    name: "PayloadTooLarge",
    description: "The body has more bytes than the route accepts.",
    codes: ["payload_too_large"],
  },
  422: {
    name: "Unprocessable",
    description: "Members of the body are invalid. Each error points to one of them.",
    codes: ["invalid"],
  },
  429: {
    name: "TooManyRequests",
    description:
      "Too many requests were sent with this token, or too many requests with invalid tokens came from the client's address.",
    codes: ["rate_limited"],
    headers: ["Retry-After", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"],
  },
  500: {
    name: "InternalError",
    description:
      "An internal error occurred; the detail contains a trace id for the operator of the server.",
    codes: ["internal_error"],
  },
  503: {
    name: "Unavailable",
    description: "A part of the server does not respond, or work is still in progress; try again.",
    codes: [
      "address_invited",
      "blob_missing",
      "blob_store",
      "body_parser",
      "database",
      "database_busy",
      "outputs_not_processed",
      "request_bodies",
      "service_unavailable",
      "state_upload",
      "state_version_pending",
      "upload_too_slow",
    ],
    headers: ["Retry-After"],
  },
  504: {
    name: "GatewayTimeout",
    description: "The request exceeded its time limit. Whether it had an effect is unknown.",
    codes: ["deadline_exceeded"],
  },
};

const schemaOf = (status: number, codes: readonly string[]): JsonSchema => ({
  type: "object",
  properties: {
    errors: {
      type: "array",
      minItems: 1,
      maxItems: 20,
      items: {
        type: "object",
        properties: {
          status: { const: String(status) },
          code: { type: "string", enum: codes, description: "A stable code for programs." },
          title: { type: "string" },
          detail: { type: "string", description: "An explanation for people." },
          ...(status === 422
            ? {
                source: {
                  type: "object",
                  properties: {
                    pointer: { type: "string", description: "A JSON pointer into the body." },
                  },
                  required: ["pointer"],
                  additionalProperties: false,
                },
              }
            : {}),
        },
        required: ["status", "code", "title", "detail"],
        additionalProperties: false,
      },
    },
  },
  required: ["errors"],
  additionalProperties: false,
});

/** The shared responses to which operations refer: one for each failure, and one for the status 304. */
export const sharedResponses: Readonly<Record<string, JsonSchema>> = {
  NotModified: {
    description: "The body has not changed: `If-None-Match` contains its entity tag.",
    headers: { ETag: { required: true, schema: { type: "string" } } },
  },
  ...responsesOfFailures(),
};

/** The reference to the 304 response, for a conditional request whose client already has the current body. */
export const notModified: JsonSchema = { $ref: "#/components/responses/NotModified" };

function responsesOfFailures(): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(
    Object.entries(failures).map(([status, { name, description, codes, headers = [] }]) => [
      name,
      {
        description,
        ...(headers.length > 0
          ? {
              headers: Object.fromEntries(
                headers.map((header) => [
                  header,
                  // Responses contain the rate limit's headers only if a rate limit is configured.
                  { required: !header.startsWith("X-RateLimit-"), schema: { type: "string" } },
                ]),
              ),
            }
          : {}),
        content: { "application/vnd.api+json": { schema: schemaOf(Number(status), codes) } },
      },
    ]),
  );
}

/** Returns the reference to the response of a failure. */
export function errorResponse(status: number): JsonSchema {
  const failure = failures[status];
  if (!failure) throw new Error(`the OpenAPI document does not describe status ${status}`);
  return { $ref: `#/components/responses/${failure.name}` };
}
