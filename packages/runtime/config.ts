import type { z } from "zod";

/** The configuration is unusable; the message lists every problem, one a line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Reads `schema`'s keys from the environment. An empty variable counts as absent. Throws `ConfigError`. */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>> = process.env,
): z.infer<Schema> {
  const input: Record<string, string> = {};
  for (const name of Object.keys(schema.shape)) {
    const value = env[name];
    if (value !== undefined && value !== "") input[name] = value;
  }
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const problems = result.error.issues.map((issue) => {
    const name = String(issue.path[0] ?? "configuration");
    const missing = issue.path.length === 1 && !(name in input);
    // The value itself is never repeated: it may be a secret.
    return `${name}: ${missing ? "is required but not set" : issue.message}`;
  });
  throw new ConfigError([...new Set(problems)].join("\n"));
}

/** The lines of `--help`: each variable with its default and its description. */
export function describeConfig(schema: z.ZodObject): string[] {
  const names = Object.keys(schema.shape);
  const width = Math.max(0, ...names.map((name) => name.length));
  return Object.entries(schema.shape).map(([name, field]) =>
    `  ${name.padEnd(width)}  ${defaultOf(field)}${descriptionOf(field)}`.trimEnd(),
  );
}

function defaultOf(field: z.core.$ZodType): string {
  const absent = (field as z.ZodType).safeParse(undefined);
  if (!absent.success) return "(required) ";
  if (absent.data === undefined || absent.data === "") return "";
  return `(default ${typeof absent.data === "object" ? JSON.stringify(absent.data) : String(absent.data)}) `;
}

function descriptionOf(field: z.core.$ZodType): string {
  return (field as z.ZodType).description ?? "";
}
