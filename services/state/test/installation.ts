import { randomBytes } from "node:crypto";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createIdentity, generateAssertionKey } from "@statehouse/rpc";
import { createLogger, type EditionName } from "@statehouse/runtime";
import { configSchema } from "../config.ts";
import { migrations } from "../store/migrations.ts";
import { neighbours } from "./neighbours.ts";

const names = ["gateway", "access", "workspaces", "state"] as const;
type Name = (typeof names)[number];

const key = () => `k1:${randomBytes(32).toString("base64")}`;

/** The environment of the service: a separate database, keys, stubs of the other services. */
export async function install(
  settings: { edition?: EditionName; environment?: Record<string, string> } = {},
) {
  await using starting = new AsyncDisposableStack();
  const fresh = starting.use(await freshDatabase({ contextName: "state", migrations }));
  const pairs = await Promise.all(
    names.map(async (name) => [name, await generateAssertionKey()] as const),
  );
  const keys = Object.fromEntries(pairs.map(([name, { publicJwk }]) => [name, [publicJwk]]));
  const identities = Object.fromEntries(
    await Promise.all(
      pairs.map(async ([name, { privateJwk }]) => [name, await createIdentity(name, privateJwk)]),
    ),
  ) as Record<Name, Awaited<ReturnType<typeof createIdentity>>>;
  const logger = createLogger({ service: "state", level: "silent" });
  const others = starting.use(neighbours({ keys, logger }));
  const config = configSchema.parse({
    DATABASE_URL: fresh.url,
    PUBLIC_URL: "https://state.example/",
    EDITION: settings.edition,
    ASSERTION_PRIVATE_KEY: JSON.stringify(pairs.find(([name]) => name === "state")?.[1].privateJwk),
    ASSERTION_PUBLIC_KEYS: JSON.stringify(keys),
    UPLOAD_TOKEN_KEYS: key(),
    SEALING_KEYS: key(),
    ...settings.environment,
  });
  const installed = starting.move();
  return {
    config,
    identities,
    keys,
    logger,
    neighbours: others,
    [Symbol.asyncDispose]: () => installed.disposeAsync(),
  };
}
