import { readFileSync } from "node:fs";
import { hasCode } from "@statehouse/errors";
import type { z } from "zod";

/** Thrown for invalid configuration; the message lists every problem, one per line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Reads the keys of `schema` from the environment, each also from the file that `NAME_FILE` names. An empty variable
 * counts as absent. Throws `ConfigError`.
 */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>> = process.env,
): z.infer<Schema> {
  const input: Record<string, string> = {};
  const unreadable = new Map<string, string>();
  for (const name of Object.keys(schema.shape)) {
    const { value, problem } = givenValue(name, env, schema);
    if (value !== undefined) input[name] = value;
    if (problem !== undefined) unreadable.set(name, `${name}_FILE: ${problem}`);
  }
  const result = schema.safeParse(input);
  const missing = missingWith(schema, input).filter(([name]) => !unreadable.has(name));
  if (result.success && missing.length === 0 && unreadable.size === 0) {
    return renewing(schema, result.data, env);
  }
  const problems = (result.error?.issues ?? []).flatMap((issue) => {
    const [name = "configuration", ...within] = issue.path.map(String);
    if (unreadable.has(name)) return [];
    if (within.length === 0 && !(name in input)) return [`${name}: is required but not set`];
    // The value itself is never quoted, because it can be a secret.
    return [`${name}: ${within.length > 0 ? `${within.join(".")}: ` : ""}${issue.message}`];
  });
  const lines = [...unreadable.values(), ...problems, ...missing.map(([, line]) => line)];
  throw new ConfigError([...new Set(lines)].join("\n"));
}

/** Returns whether the environment has a value for the setting `name`, or names a file that contains the value. */
export const isSet = (
  name: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): boolean => Boolean(env[name] || env[`${name}_FILE`]);

/** The file from which a setting is read, if its variable names one. */
function fileOf(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  schema: z.ZodObject,
): string | undefined {
  const variable = `${name}_FILE`;
  return variable in schema.shape ? undefined : env[variable] || undefined;
}

function givenValue(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  schema: z.ZodObject,
): { value?: string; problem?: string } {
  const value = env[name];
  const file = fileOf(name, env, schema);
  if (file === undefined) return value === undefined || value === "" ? {} : { value };
  if (value) return { problem: `is set beside ${name}; set one of them` };
  try {
    const text = textOf(file);
    return text === "" ? { problem: "the file is empty" } : { value: text };
  } catch (error) {
    const reason = hasCode(error, "ENOENT") ? "does not exist" : "cannot be read";
    return { problem: `the file ${reason}` };
  }
}

/** Without the line break that editors add at the end. */
const textOf = (file: string): string => readFileSync(file, "utf8").replace(/\r?\n$/, "");

/** Marks a setting whose file is read again whenever its value is needed (`renewableSetting`). */
export const renewable = { renewable: true } as const;

/** Gives each renewable setting from a file a function that reads the file again. */
function renewing<Schema extends z.ZodObject>(
  schema: Schema,
  config: z.infer<Schema>,
  env: Readonly<Record<string, string | undefined>>,
): z.infer<Schema> {
  const functions = Object.entries(schema.shape).flatMap(([name, field]) => {
    const file = fileOf(name, env, schema);
    if (file === undefined || !(field as z.ZodType).meta()?.renewable) return [];
    let last = textOf(file);
    const current = (): string => {
      try {
        last = textOf(file) || last;
      } catch {
        // The file is being replaced; the last value is still the best one.
      }
      return last;
    };
    return [[name, current] as const];
  });
  return { ...config, ...Object.fromEntries(functions) };
}

/** Marks an optional setting as required if another setting has a certain value. */
export const neededWith = (setting: string, value: string) => ({ neededWith: { setting, value } });

/** Name and line of each missing setting that the value of another one requires. */
function missingWith(
  schema: z.ZodObject,
  input: Readonly<Record<string, string>>,
): [name: string, line: string][] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const needed = (field as z.ZodType).meta()?.neededWith as
      | ReturnType<typeof neededWith>["neededWith"]
      | undefined;
    if (!needed || name in input) return [];
    const { setting, value } = needed;
    const other = schema.shape[setting] as z.ZodType | undefined;
    const given = other?.safeParse(input[setting]).data;
    return given === value ? [[name, `${name}: is required with ${setting}=${value}`]] : [];
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
