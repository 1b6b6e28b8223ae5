import type { z } from "zod";

/** Thrown for invalid configuration; the message lists every problem, one per line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Reads the keys of `schema` from the environment. An empty variable counts as absent. Throws `ConfigError`. */
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
  const missing = missingWith(schema, input);
  if (result.success && missing.length === 0) return result.data;
  const problems = (result.error?.issues ?? []).map((issue) => {
    const [name = "configuration", ...within] = issue.path.map(String);
    if (within.length === 0 && !(name in input)) return `${name}: is required but not set`;
    // The message never quotes the value, because it can be a secret.
    return `${name}: ${within.length > 0 ? `${within.join(".")}: ` : ""}${issue.message}`;
  });
  throw new ConfigError([...new Set([...problems, ...missing])].join("\n"));
}

/** Marks an optional setting as required if another setting has a certain value. */
export const neededWith = (setting: string, value: string) => ({ neededWith: { setting, value } });

/** Returns a line for each missing setting that the value of another setting requires. */
function missingWith(schema: z.ZodObject, input: Readonly<Record<string, string>>): string[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const needed = (field as z.ZodType).meta()?.neededWith as
      | ReturnType<typeof neededWith>["neededWith"]
      | undefined;
    if (!needed || name in input) return [];
    const { setting, value } = needed;
    const other = schema.shape[setting] as z.ZodType | undefined;
    const given = other?.safeParse(input[setting]).data;
    return given === value ? [`${name}: is required with ${setting}=${value}`] : [];
  });
}

/** Returns the lines of `--help`: each variable with its default and its description. */
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
