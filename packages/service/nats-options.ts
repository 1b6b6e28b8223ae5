import type { connectNats, NatsLogin, StreamSettings } from "@statehouse/events";
import { ConfigError, type natsSettings } from "@statehouse/runtime";
import type { z } from "zod";

/** The settings of a connection to NATS. */
export type NatsConfig = z.output<z.ZodObject<typeof natsSettings>>;

/**
 * Returns the address, login and encryption of the connection. Throws ConfigError if the settings contradict each
 * other.
 */
export function natsOptions(config: NatsConfig): Omit<Parameters<typeof connectNats>[0], "name"> {
  const { NATS_CA_FILE: caFile, NATS_CERT_FILE: certFile, NATS_KEY_FILE: keyFile } = config;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new ConfigError("NATS_CERT_FILE and NATS_KEY_FILE are only valid together");
  }
  const encrypted = (config.NATS_TLS ?? (caFile || certFile ? "on" : "off")) === "on";
  return {
    url: config.NATS_URL,
    login: loginOf(config),
    tls: encrypted ? { caFile, certFile, keyFile } : undefined,
  };
}

function loginOf(config: NatsConfig): NatsLogin | undefined {
  const { NATS_USER: user, NATS_PASSWORD: password } = config;
  const { NATS_TOKEN: token, NATS_NKEY_SEED: nkeySeed, NATS_CREDENTIALS: credentials } = config;
  if ((user === undefined) !== (password === undefined)) {
    throw new ConfigError("NATS_USER and NATS_PASSWORD are only valid together");
  }
  const logins: NatsLogin[] = [
    ...(user !== undefined && password ? [{ user, password }] : []),
    ...(token ? [{ token }] : []),
    ...(nkeySeed ? [{ nkeySeed }] : []),
    ...(credentials ? [{ credentials }] : []),
  ];
  if (logins.length > 1) {
    throw new ConfigError(
      "only one of NATS_USER, NATS_TOKEN, NATS_NKEY_SEED and NATS_CREDENTIALS can be set",
    );
  }
  return logins[0];
}

/** Returns the settings of the streams. */
export const streamSettings = (config: NatsConfig): StreamSettings => ({
  replicas: config.STREAM_REPLICAS,
  maxAgeDays: config.STREAM_MAX_AGE_DAYS,
  maxBytes: config.STREAM_MAX_BYTES,
  cluster: config.STREAM_CLUSTER,
  subscribers: config.EVENT_SUBSCRIBERS,
  tags: config.STREAM_TAGS?.split(",").map((tag) => tag.trim()),
});
