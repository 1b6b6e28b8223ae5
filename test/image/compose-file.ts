import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { z } from "zod";

// The part of the Compose specification that deploy/compose.yaml uses. Any other key is an error, so that the test does
// not ignore any part of the file.

const duration = z
  .string()
  .regex(/^\d+s$/)
  .transform((text) => Number.parseInt(text, 10) * 1000);

const healthcheck = z.strictObject({
  test: z.array(z.string()).transform(([kind, ...command]) => {
    if (kind !== "CMD") throw new Error("a health check without a shell begins with CMD");
    return command;
  }),
  interval: duration,
  timeout: duration,
  start_period: duration,
  start_interval: duration,
  retries: z.number(),
});

const condition = z.enum(["service_healthy", "service_completed_successfully"]);

const service = z.strictObject({
  image: z.string(),
  restart: z.enum(["unless-stopped", "on-failure"]),
  command: z.array(z.string()).default([]),
  environment: z.record(z.string(), z.string()).default({}),
  depends_on: z.record(z.string(), z.strictObject({ condition })).default({}),
  healthcheck: healthcheck.optional(),
  volumes: z.array(z.string()).default([]),
  ports: z.array(z.string()).default([]),
  read_only: z.boolean().default(false),
  cap_drop: z.array(z.string()).default([]),
  security_opt: z.array(z.string()).default([]),
  user: z.string().optional(),
  tmpfs: z.array(z.string()).default([]),
  stop_grace_period: z.string().optional(),
  logging: z.unknown(),
});

const file = z.object({
  services: z.record(z.string(), service),
  volumes: z.record(z.string(), z.null()),
});

export type ComposeService = z.output<typeof service>;

/** Reads a Compose file and substitutes `variables` in it. Throws if a variable that the file requires is missing. */
export function readCompose(
  place: string,
  variables: Readonly<Record<string, string>>,
): { services: Record<string, ComposeService>; volumes: string[] } {
  const interpolated = interpolate(parse(readFileSync(place, "utf8"), { merge: true }), variables);
  const { services, volumes } = file.parse(interpolated);
  return { services, volumes: Object.keys(volumes) };
}

function interpolate(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string") {
    return value.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name, operator, rest) => {
      const configured = variables[name];
      if (configured) return configured;
      if (operator === "?") throw new Error(`${name} ${rest}`);
      return rest ?? "";
    });
  }
  if (Array.isArray(value)) return value.map((item) => interpolate(item, variables));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, interpolate(item, variables)]),
  );
}
