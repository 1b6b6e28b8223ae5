// A bridge from events to a webhook: each event is one signed POST request. README.md lists the settings.
//   node bridge.mjs            receives events and sends them
//   node bridge.mjs replay     sends the dead letters again
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { deadLetterFiles } from "@statehouse/events/dead-letter-files";
import { connectNats, subscribe } from "@statehouse/events/subscribe";

const { env } = process;
const setting = (name) => {
  const value = env[name];
  if (!value) throw new Error(`${name} is required.`);
  return value;
};
const secretFrom = (name) => readFileSync(setting(name), "utf8").trim();

const url = setting("WEBHOOK_URL");
const timeoutMs = Number(env.WEBHOOK_TIMEOUT_SECONDS ?? 10) * 1000;
const deadLetters = deadLetterFiles(env.DEAD_LETTERS ?? "dead-letters");

/** A failure that the event has not caused: the webhook is unavailable, or the secret cannot be read. */
class Unavailable extends Error {
  name = "Unavailable";
}

/**
 * Reads and returns the key of the signatures. Called for each request, so that a new secret is used without a restart.
 */
function signingKey() {
  try {
    return Buffer.from(secretFrom("WEBHOOK_SECRET_FILE").replace(/^whsec_/, ""), "base64");
  } catch (error) {
    throw new Unavailable(`The secret of the webhook cannot be read: ${error.message}`);
  }
}

/** Sends an event as a CloudEvent in JSON, signed as Standard Webhooks describes. */
async function send(event) {
  const { id, source, type, subject, time, revision, organizationId, auth } = event;
  const body = JSON.stringify({
    ...{ specversion: "1.0", id, source, type, subject, time: time.toISOString() },
    sequence: String(revision).padStart(20, "0"),
    ...(organizationId && { organizationid: organizationId }),
    ...(auth && { authtype: auth.type, authid: auth.id }),
    ...{ datacontenttype: "application/json", data: JSON.parse(event.json) },
  });
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", signingKey())
    .update(`${id}.${timestamp}.${body}`)
    .digest("base64");
  const headers = {
    "content-type": "application/cloudevents+json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
  const request = { method: "POST", headers, body, redirect: "error" };
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(timeoutMs) }).catch(
    (error) => {
      throw new Unavailable(`The webhook does not respond: ${error.cause?.code ?? error.name}`);
    },
  );
  await response.body?.cancel();
  if (response.ok) return;
  const { status } = response;
  const message = `The webhook responded with ${status}.`;
  throw status >= 500 || status === 408 || status === 429
    ? new Unavailable(message)
    : new Error(message);
}

const print = (level) => (about, message) => {
  const { err, ...fields } = about;
  const line = { level, time: new Date().toISOString(), message, ...fields };
  process.stdout.write(`${JSON.stringify(err ? { ...line, error: String(err) } : line)}\n`);
};
const logger = { info: print("info"), warn: print("warn"), error: print("error") };

if (process.argv[2] === "replay") {
  const { replayed, failed } = await deadLetters.replay({}, send);
  logger.info({ replayed, failed }, "dead letters replayed");
  process.exitCode = failed > 0 ? 1 : 0;
} else {
  const nats = connectNats({
    ...{ url: setting("NATS_URL"), name: "webhook-bridge" },
    login: env.NATS_NKEY_SEED_FILE && { nkeySeed: () => secretFrom("NATS_NKEY_SEED_FILE") },
    tls: env.NATS_CA_FILE && { caFile: env.NATS_CA_FILE },
    domain: env.NATS_DOMAIN,
  });
  const subscription = subscribe({
    ...{ nats, durable: setting("DURABLE"), filter: setting("FILTER"), logger },
    handlers: {},
    otherwise: send,
    // While the webhook is unavailable or its secret cannot be read, the event is sent again and again. Only an event
    // that the webhook refuses becomes a dead letter.
    isTransient: (error) => error instanceof Unavailable,
    maxFailures: Number(env.MAX_FAILURES ?? 8),
    deadLetter: deadLetters.store,
  });
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, async () => {
      await subscription[Symbol.asyncDispose]();
      await nats[Symbol.asyncDispose]();
    });
  }
  logger.info({ filter: setting("FILTER") }, "webhook bridge started");
}
