import type { DescMessage } from "@bufbuild/protobuf";
import { connect } from "@nats-io/transport-node";
import { eventType } from "@statehouse/events";
import { eventMessages, headersSchema, payloadSchema } from "@statehouse/events/catalog";
import { Ajv, type ValidateFunction } from "ajv";

const ajv = new Ajv({ strict: false, validateFormats: false });
const validHeaders = ajv.compile(headersSchema);
const schemas = new Map<string, ValidateFunction>(
  eventMessages.map((message) => [eventType(message), ajv.compile(payloadSchema(message))]),
);

/**
 * Compares the subject, headers and payload of every event that the services publish with the event catalog. An event
 * that differs fails the test run. Messages without `ce-specversion` are not compared, because only tests publish them.
 */
export async function checkEvents(
  natsUrl: string,
  { user, password: pass }: { user: string; password: string },
): Promise<AsyncDisposable> {
  const login = { user, pass };
  const connection = await connect({ servers: natsUrl, maxReconnectAttempts: -1, ...login });
  const subscriptions = ["statehouse.>", "statehouse-mail.>"].map((subject) =>
    connection.subscribe(subject, {
      callback(error, message) {
        if (error || !message.headers?.has("ce-specversion")) return;
        const { headers } = message;
        const values = Object.fromEntries(headers.keys().map((name) => [name, headers.get(name)]));
        const problem = problemOf(message.subject, values, message.string());
        // The rejection is not handled, so that the test run fails.
        if (problem) void Promise.reject(new Error(`${message.subject}: ${problem}`));
      },
    }),
  );
  return {
    async [Symbol.asyncDispose]() {
      for (const subscription of subscriptions) subscription.unsubscribe();
      await connection.close();
    },
  };
}

/** Returns how an event differs from the catalog; undefined if it does not. */
export function problemOf(
  subject: string,
  headers: Readonly<Record<string, string>>,
  payload: string,
): string | undefined {
  if (!validHeaders(headers)) return ajv.errorsText(validHeaders.errors);
  const type = headers["ce-type"] ?? "";
  const validPayload = schemas.get(type);
  if (!validPayload) return `the type ${type} is not in the catalog`;
  const content: Record<string, unknown> = JSON.parse(payload);
  const isValid: boolean = validPayload(content);
  if (!isValid) return ajv.errorsText(validPayload.errors);
  const unknown = Object.keys(content).filter((name) => !declares(type, name));
  if (unknown.length > 0) return `the catalog has no ${unknown.join(", ")}`;
  const expected = `${type}.${content.organizationId || "_"}`;
  return subject === expected ? undefined : `the subject must be ${expected}`;
}

const messages = new Map<string, DescMessage>(
  eventMessages.map((message) => [eventType(message), message]),
);
const declares = (type: string, name: string): boolean =>
  messages.get(type)?.fields.some(({ jsonName }) => jsonName === name) ?? false;
