import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { authorizeOrNotFound, type Caller, grantsOf } from "@statehouse/authorization";
import { badRequest, notFound } from "@statehouse/errors";
import type {
  AuditRecordSchema,
  AuditTrailService,
} from "@statehouse/proto/statehouse/audit/v1/audit_record";
import type { ServiceImpl } from "@statehouse/rpc";
import { MICROS, microsOf, timestampOf } from "./time.ts";
import type { Span, Trail, TrailRecord } from "./trail.ts";

/**
 * Returns the organization to which the caller's token belongs. Throws `notFound` if the token does not belong to
 * exactly one organization, or if the caller is a user, who can belong to several.
 */
function organizationOfToken(caller: Caller): string {
  const { auditTrailOf, organizations, principal } = grantsOf(caller);
  if (auditTrailOf !== undefined) return auditTrailOf;
  const [only, ...others] = organizations.keys();
  if (principal.type === "user" || only === undefined || others.length > 0) {
    throw notFound("organization");
  }
  return only;
}

/**
 * Returns the organization whose records the caller requests. Throws `notFound` if the caller is not allowed to read
 * them.
 */
function readOrganization(caller: Caller, requested: string): string {
  const organizationId = requested || organizationOfToken(caller);
  authorizeOrNotFound(caller, "organization:read-audit-trail", { organizationId }, "organization");
  return organizationId;
}

interface SpanRequest {
  organizationId: string;
  since?: Timestamp | undefined;
  until?: Timestamp | undefined;
}

const spanOf = (caller: Caller, { organizationId, since, until }: SpanRequest): Span => ({
  organization: readOrganization(caller, organizationId),
  since: microsOf(since),
  until: microsOf(until),
});

const recordToProto = (record: TrailRecord): MessageInitShape<typeof AuditRecordSchema> => ({
  id: record.id,
  recordedAt: timestampOf(record.recordedAt),
  organizationId: record.organization,
  actorType: record.actorType,
  actorId: record.actorId ?? "",
  tokenId: record.tokenId ?? "",
  address: record.address ?? "",
  action: record.action,
  resourceType: record.resourceType,
  resourceId: record.resourceId ?? "",
  changedAttributes: record.changedAttributes,
  outcome: record.outcome,
  code: record.code ?? "",
  attempts: record.attempts,
  requestId: record.requestId ?? "",
});

/** Records that the current actor reads the audit trail of an organization. */
export type RecordReading = (organizationId: string) => Promise<void>;

/**
 * Implements AuditTrailService for the records of one service. `recordReading` is called when a caller begins to read
 * the audit trail. Only one service passes `recordReading`, so that each reading is recorded once.
 */
export const auditTrailService = (
  trail: Trail,
  recordReading: RecordReading = async () => {},
): ServiceImpl<typeof AuditTrailService> => ({
  async beginReading(request, { caller }) {
    const organizationId = readOrganization(caller, request.organizationId);
    await recordReading(organizationId);
    return { organizationId, completeUntil: timestampOf(await trail.completeUntil()) };
  },

  async countAuditRecords(request, { caller }) {
    const span = spanOf(caller, request);
    const { intervalSeconds } = request;
    if (intervalSeconds < 1) {
      throw badRequest("interval", "Interval seconds must be at least 1.");
    }
    const intervals = await trail.counts(span, intervalSeconds);
    return {
      intervals: intervals.map(({ start, count }) => ({
        start: timestampOf(start * MICROS),
        count,
      })),
    };
  },

  async listAuditRecords(request, { caller }) {
    const span = spanOf(caller, request);
    const { limit, offset } = request;
    const records = await trail.list(span, { limit, offset });
    return { records: records.map(recordToProto) };
  },
});
