import {
  type DescMessage,
  fromJsonString,
  getOption,
  hasOption,
  type MessageShape,
} from "@bufbuild/protobuf";
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { type as typeOption } from "@statehouse/proto/statehouse/events/v1/options";

/** Who caused an event, in the form of the CloudEvents extension "auth context". Never contains a secret. */
export interface AuthContext {
  /** The kind of principal: `user`, `api_key`, `service_account` or `system`. */
  type: string;
  /** The id of the principal. One kind can cover several types of principals, which the id's prefix distinguishes. */
  id: string;
}

/** One change, or one object of the listing, in the form of CloudEvents 1.0. */
export interface Event {
  id: string;
  /**
   * `statehouse.<service>.<noun>.<verb>.v1`. The event's subject on the bus also contains the organization; see
   * `subjectOf`.
   */
  type: string;
  /** The organization to which the changed object belongs; undefined for objects of the whole installation. */
  organizationId: string | undefined;
  /** The installation, and the service that owns the changed object: `urn:statehouse:default/workspaces`. */
  source: string;
  /** The id of the changed object. */
  subject: string;
  /**
   * Revision of the changed row. A consumer applies the event only if the revision that it has stored for the object is
   * lower.
   */
  revision: number;
  time: Date;
  traceparent: string | undefined;
  /** Who caused the change; undefined if the event comes from the listing. */
  auth: AuthContext | undefined;
  /** The message as JSON; `decode` parses it. */
  json: string;
  /** Set if the event comes from the listing: it then describes an existing object and not a change. */
  isListed?: true;
}

/** Returns the event type that a message declares with `option (statehouse.events.v1.type)`. */
export function eventType(schema: DescMessage): string {
  if (!hasOption(schema, typeOption)) {
    throw new Error(`${schema.typeName} does not declare its event type`);
  }
  return getOption(schema, typeOption);
}

/** Used in place of an organization's id in events and audit records that concern the whole installation. */
export const INSTALLATION = "_";

/** Returns the subject of an event on the bus: its type and its organization. */
export const subjectOf = ({ type, organizationId }: Pick<Event, "type" | "organizationId">) =>
  `${type}.${organizationId ?? INSTALLATION}`;

/** Returns the organization that an event's message names; undefined if it names none or an invalid id. */
export function organizationIn(json: string): string | undefined {
  const { organizationId }: { organizationId?: unknown } = JSON.parse(json);
  return typeof organizationId === "string" && /^[\w-]+$/.test(organizationId)
    ? organizationId
    : undefined;
}

/** Divides a subject of the bus into type and organization. A subject of another form becomes the type. */
function divide(subject: string): Pick<Event, "type" | "organizationId"> {
  const [, type = subject, organization] = /^(.+\.v\d+)\.([^.]+)$/.exec(subject) ?? [];
  return { type, organizationId: organization === INSTALLATION ? undefined : organization };
}

/** Returns whether some subject of this event type matches `filter`, which can contain the wildcards of NATS. */
export const reaches = (filter: string, type: string): boolean =>
  // The `*` in this subject stands for any organization.
  matches(filter, `${type}.*`);

/**
 * Returns whether `filter`, which can contain the wildcards of NATS, selects this subject. A part `*` of the subject
 * stands for any value.
 */
export function matches(filter: string, subject: string): boolean {
  const pattern = filter.split(".");
  const tokens = subject.split(".");
  const rest = pattern.at(-1) === ">" ? pattern.length - 1 : undefined;
  if (rest === undefined ? pattern.length !== tokens.length : tokens.length <= rest) return false;
  return pattern
    .slice(0, rest)
    .every((token, index) => token === "*" || tokens[index] === "*" || token === tokens[index]);
}

/** Decodes the event's message. Unknown fields, which later releases may add, are ignored. */
export function decode<Schema extends DescMessage>(
  event: Pick<Event, "json">,
  schema: Schema,
): MessageShape<Schema> {
  return fromJsonString(schema, event.json, { ignoreUnknownFields: true });
}

/** Returns the `$id` of the JSON Schema of an event type. */
export const dataSchemaOf = (type: string): string => `urn:statehouse:event-schema:${type}`;

/**
 * The number of digits of the largest revision. Smaller revisions are padded with zeros, because consumers compare
 * `sequence` as text.
 */
const SEQUENCE_DIGITS = 20;

/** Returns the attributes of CloudEvents 1.0, with the extensions sequence, auth context and distributed tracing. */
export function attributesOf(
  event: Omit<Event, "organizationId" | "json" | "isListed">,
): Record<string, string> {
  const { auth, traceparent } = event;
  return {
    specversion: "1.0",
    id: event.id,
    source: event.source,
    type: event.type,
    subject: event.subject,
    time: event.time.toISOString(),
    datacontenttype: "application/json",
    dataschema: dataSchemaOf(event.type),
    sequence: String(event.revision).padStart(SEQUENCE_DIGITS, "0"),
    ...(auth && { authtype: auth.type, authid: auth.id }),
    ...(traceparent && { traceparent }),
  };
}

/** Returns the NATS headers of an event in the binary mode of CloudEvents 1.0. */
export function headersOf(event: Event): MsgHdrs {
  const result = headers();
  for (const [name, value] of Object.entries(attributesOf(event))) {
    result.set(`ce-${name}`, encode(value));
  }
  return result;
}

/** Percent-encodes the characters that CloudEvents' binding for NATS does not allow in a header. */
const encode = (value: string): string =>
  value.replace(/[^!#$&-~]/gu, (character) =>
    [...new TextEncoder().encode(character)]
      .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
      .join(""),
  );

/**
 * Decodes the value of a header. Returns a value unchanged if it is not encoded correctly; Statehouse never sends such
 * values.
 */
function decodeHeader(value: string): string {
  const quoted = /^"(.*)"$/s.exec(value)?.[1]?.replace(/\\(.)/gs, "$1");
  try {
    return decodeURIComponent(quoted ?? value);
  } catch {
    return value;
  }
}

/**
 * Replaces NUL, which PostgreSQL cannot store in a text. A message that contains NUL is not valid JSON, so no valid
 * message changes.
 */
const withoutNul = (text: string): string => text.replaceAll("\0", "\u{FFFD}");

/**
 * The end of the accepted times, in ms since 1970: the beginning of the year 10,000. Not every database can store later
 * times.
 */
const MAX_TIME = Date.UTC(10_000, 0);

/**
 * Returns the time in a header; `fallback` if the header contains no time, or one that not every database can store.
 */
function timeFrom(text: string, fallback: Date): Date {
  const time = new Date(text);
  return time.getTime() >= 0 && time.getTime() < MAX_TIME ? time : fallback;
}

/** Returns the revision in a header; 0 if the header contains no revision that Statehouse can have assigned. */
function revisionFrom(text: string): number {
  const revision = /^\d+$/.test(text) ? Number(text) : 0;
  return Number.isSafeInteger(revision) ? revision : 0;
}

/**
 * Reads an event from a bus message. If a header is missing, which is possible if the publisher was not Statehouse, its
 * field is empty; a missing time is replaced with that of the message. All fields have values that the database can
 * store: otherwise a forged event that cannot be stored as a dead letter would be delivered again without end. The type
 * is read from the subject instead of the header `ce-type`, because NATS permits each user to publish only to certain
 * subjects.
 */
export function eventFrom(message: {
  headers: MsgHdrs | undefined;
  subject: string;
  string(): string;
  time: Date;
}): Event {
  const header = (name: string) =>
    withoutNul(decodeHeader(message.headers?.get(`ce-${name}`) ?? ""));
  const authType = header("authtype");
  const { type, organizationId } = divide(message.subject);
  return {
    id: header("id"),
    type,
    organizationId,
    source: header("source"),
    subject: header("subject"),
    revision: revisionFrom(header("sequence")),
    time: timeFrom(header("time"), message.time),
    traceparent: header("traceparent") || undefined,
    auth: authType ? { type: authType, id: header("authid") } : undefined,
    json: withoutNul(message.string()),
  };
}
