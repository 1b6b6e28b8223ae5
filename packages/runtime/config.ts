import { hasCode } from "@statehouse/errors";
import type { z } from "zod";
import { currentOf } from "./current-value.ts";
import { type FollowedFiles, followFiles, textOf } from "./followed-files.ts";

/** Thrown for invalid configuration; the message lists every problem, one per line. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads each setting of `schema` from its environment variable, or from the file that the variable `NAME_FILE` names.
 * An empty variable is treated as absent. Renewable settings are functions that return the current value;
 * `watchSettings` keeps it current. Throws `ConfigError`.
 */
export function readConfig<Schema extends z.ZodObject>(
  schema: Schema,
  env: Env = process.env,
): z.infer<Schema> {
  return renewing(schema, parse(schema, env), env);
}

function parse<Schema extends z.ZodObject>(schema: Schema, env: Env): z.infer<Schema> {
  const input: Record<string, string> = {};
  const unreadable = new Map<string, string>();
  for (const name of Object.keys(schema.shape)) {
    const { value, problem } = configuredValue(name, env, schema);
    if (value !== undefined) input[name] = value;
    if (problem !== undefined) unreadable.set(name, `${name}_FILE: ${problem}`);
  }
  const result = schema.safeParse(input);
  const missing = missingWith(schema, input).filter(([name]) => !unreadable.has(name));
  if (result.success && missing.length === 0 && unreadable.size === 0) {
    return result.data;
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
export const isSet = (name: string, env: Env = process.env): boolean =>
  Boolean(env[name] || env[`${name}_FILE`]);

/** Returns the file from which a setting is read; undefined if `NAME_FILE` names none. */
function fileOf(name: string, env: Env, schema: z.ZodObject): string | undefined {
  const variable = `${name}_FILE`;
  return variable in schema.shape ? undefined : env[variable] || undefined;
}

function configuredValue(
  name: string,
  env: Env,
  schema: z.ZodObject,
): { value?: string; problem?: string } {
  const value = env[name];
  const file = fileOf(name, env, schema);
  if (file === undefined) return value === undefined || value === "" ? {} : { value };
  if (value) return { problem: `is set together with ${name}; set only one of them` };
  try {
    const text = textOf(file);
    return text === "" ? { problem: "the file is empty" } : { value: text };
  } catch (error) {
    const reason = hasCode(error, "ENOENT") ? "does not exist" : "cannot be read";
    return { problem: `the file ${reason}` };
  }
}

/**
 * Marks a setting whose value is a function that returns the current content of the setting's file (`renewable` of
 * settings.ts).
 */
export const renewableMark = { renewable: true } as const;

const fieldsOf = ({ shape }: z.ZodObject) =>
  Object.entries(shape) as [name: string, field: z.ZodType][];

const filesKey = Symbol("files of the settings");

/** Returns the files of a configuration that `readConfig` returned; undefined if no setting comes from a file. */
export const settingFilesOf = (config: object): FollowedFiles | undefined =>
  Reflect.get(config, filesKey);

/**
 * Replaces the value of each renewable setting with a function that returns the value from the last valid check of the
 * files.
 */
function renewing<Schema extends z.ZodObject>(
  schema: Schema,
  config: z.infer<Schema>,
  env: Env,
): z.infer<Schema> {
  const files = Object.keys(schema.shape).flatMap((name) => {
    const file = fileOf(name, env, schema);
    return file === undefined ? [] : [{ name, file }];
  });
  if (files.length === 0) return config;
  let current: Record<string, unknown> = config;
  const renewable = new Set(
    fieldsOf(schema).flatMap(([name, field]) => (field.meta()?.renewable === true ? [name] : [])),
  );
  const functions = [...renewable]
    .filter((name) => current[name] !== undefined)
    .map((name) => [name, () => currentOf(current[name])()] as const);
  const followed = followFiles(files, (_, changed) => {
    try {
      current = parse(schema, env);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return { problems: error.message.split("\n") };
    }
    return {
      renewed: changed.filter((name) => renewable.has(name)),
      needRestart: changed.filter((name) => !renewable.has(name)),
    };
  });
  return { ...config, ...Object.fromEntries(functions), [filesKey]: followed };
}

/** Marks an optional setting as required if other settings have certain values. */
export const neededWith = (others: Readonly<Record<string, string>>) => ({ neededWith: others });

/** Returns the missing settings that other settings' values require: the name of each, and the line that reports it. */
function missingWith(
  schema: z.ZodObject,
  input: Readonly<Record<string, string>>,
): [name: string, line: string][] {
  return fieldsOf(schema).flatMap(([name, field]) => {
    const needed = field.meta()?.neededWith as
      | ReturnType<typeof neededWith>["neededWith"]
      | undefined;
    if (!needed || name in input) return [];
    const conditions = Object.entries(needed);
    const isNeeded = conditions.every(([setting, value]) => {
      const other = schema.shape[setting] as z.ZodType | undefined;
      return other?.safeParse(input[setting]).data === value;
    });
    const reason = conditions.map(([setting, value]) => `${setting}=${value}`).join(" and ");
    return isNeeded ? [[name, `${name}: is required with ${reason}`]] : [];
  });
}

/** Returns the lines of `--help`: each variable with its default and its description. */
export function describeConfig(schema: z.ZodObject): string[] {
  const fields = fieldsOf(schema);
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, field]) =>
    `  ${name.padEnd(width)}  ${defaultOf(field)}${field.description ?? ""}`.trimEnd(),
  );
}

function defaultOf(field: z.ZodType): string {
  const absent = field.safeParse(undefined);
  if (!absent.success) return "(required) ";
  if (absent.data === undefined || absent.data === "") return "";
  return `(default ${typeof absent.data === "object" ? JSON.stringify(absent.data) : String(absent.data)}) `;
}
