import {
  type DescMessage,
  fromJsonString,
  getOption,
  hasOption,
  type MessageShape,
} from "@bufbuild/protobuf";
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { type as typeOption } from "@statehouse/proto/statehouse/events/v1/options";

/** One change, in the form of CloudEvents 1.0. */
export interface Event {
  id: string;
  /** `statehouse.<service>.<noun>.<verb>.v1`. Its subject on the bus also contains the organization; see `subjectOf`. */
  type: string;
  /** The organization that the changed object belongs to; undefined for objects of the whole installation. */
  organizationId: string | undefined;
  /** The service that owns the changed object, for example `statehouse/workspaces`. */
  source: string;
  /** The id of the changed object. */
  subject: string;
  /** Revision of the changed row. A consumer applies the event only if its stored revision is lower. */
  revision: number;
  time: Date;
  traceparent: string | undefined;
  /** The message as JSON; `decode` parses it. */
  json: string;
}

/** Returns the event type that a message declares with `option (statehouse.events.v1.type)`. */
export function eventType(schema: DescMessage): string {
  if (!hasOption(schema, typeOption)) {
    throw new Error(`${schema.typeName} does not declare its event type`);
  }
  return getOption(schema, typeOption);
}

/** The last part of the subject of events that belong to no organization. */
const INSTALLATION = "_";

/** Returns the subject of an event on the bus: its type and its organization. */
export const subjectOf = ({ type, organizationId }: Pick<Event, "type" | "organizationId">) =>
  `${type}.${organizationId ?? INSTALLATION}`;

/** Returns the organization that an event's message names; undefined if it names none. */
export function organizationIn(json: string): string | undefined {
  const { organizationId }: { organizationId?: unknown } = JSON.parse(json);
  return typeof organizationId === "string" && /^[\w-]+$/.test(organizationId)
    ? organizationId
    : undefined;
}

/** Divides a subject into type and organization. Earlier versions published without an organization. */
function divide(subject: string): Pick<Event, "type" | "organizationId"> {
  const [, type = subject, organization] = /^(.+\.v\d+)\.([^.]+)$/.exec(subject) ?? [];
  return { type, organizationId: organization === INSTALLATION ? undefined : organization };
}

/**
 * Returns whether some subject of this event type matches `filter`, which can contain the wildcards of NATS.
 */
export function reaches(filter: string, type: string): boolean {
  const wanted = filter.split(".");
  const tokens = [...type.split("."), "*"];
  const rest = wanted.at(-1) === ">" ? wanted.length - 1 : undefined;
  if (rest === undefined ? wanted.length !== tokens.length : tokens.length <= rest) return false;
  return wanted
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

/** Returns the NATS headers that CloudEvents defines for an event. */
export function headersOf(event: Event): MsgHdrs {
  const result = headers();
  result.set("ce-specversion", "1.0");
  result.set("ce-id", event.id);
  result.set("ce-source", event.source);
  result.set("ce-type", event.type);
  result.set("ce-subject", event.subject);
  result.set("ce-time", event.time.toISOString());
  result.set("ce-datacontenttype", "application/json");
  result.set("ce-revision", String(event.revision));
  if (event.traceparent) result.set("ce-traceparent", event.traceparent);
  return result;
}

/**
 * Reads an event from a bus message. Fields are empty if the publisher was not Statehouse and omitted their headers.
 */
export function eventFrom(message: {
  headers: MsgHdrs | undefined;
  subject: string;
  string(): string;
  time: Date;
}): Event {
  const header = (name: string) => message.headers?.get(name) ?? "";
  const time = new Date(header("ce-time"));
  const { type, organizationId } = divide(message.subject);
  return {
    id: header("ce-id"),
    type: header("ce-type") || type,
    organizationId,
    source: header("ce-source"),
    subject: header("ce-subject"),
    revision: Number(header("ce-revision") || 0),
    time: Number.isNaN(time.getTime()) ? message.time : time,
    traceparent: header("ce-traceparent") || undefined,
    json: message.string(),
  };
}
