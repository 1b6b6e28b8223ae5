import { badRequest } from "@statehouse/errors";
import { z } from "zod";
import type { Page } from "../jsonapi/pagination.ts";

/** One parameter in the OpenAPI document. */
export interface ParameterDescription {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly required?: true;
}

/** A value that a route reads from one or more query parameters. */
export interface Query<Value> {
  readonly parameters: readonly ParameterDescription[];
  /** Throws `badRequest`. */
  read(query: URLSearchParams): Value;
}

/** The values that a route reads. The name `page` is that of the requested page of a list. */
export interface Queries extends Readonly<Record<string, Query<unknown>>> {
  readonly page?: Query<Page | undefined>;
}
export type ValuesOf<Q extends Queries> = {
  readonly [Name in keyof Q]: Q[Name] extends Query<infer Value> ? Value : never;
};

/** Reads the declared values from a query. */
export const readQueries = (
  queries: Queries,
  query: URLSearchParams,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(queries).map(([name, { read }]) => [name, read(query)]));

/**
 * Returns the value of a parameter; an empty value is treated as absent. Throws `badRequest` for characters that the
 * database does not accept.
 */
export function parameter(query: URLSearchParams, name: string): string | undefined {
  const value = query.get(name) || undefined;
  if (value?.includes("\0")) throw badRequest("parameter", `${name} contains a NUL character.`);
  return value;
}

const namesOf = (names: string | readonly string[]) =>
  typeof names === "string" ? [names] : names;

/** Declares a text parameter that can have any of several names. Its value is empty if all are absent. */
export const text = (names: string | readonly string[], description: string) => ({
  parameters: namesOf(names).map((name) => ({ name, description, schema: z.string() })),
  read: (query: URLSearchParams): string =>
    namesOf(names)
      .map((name) => parameter(query, name))
      .find((value) => value !== undefined) ?? "",
});

/** Declares a required text parameter. Reading throws `badRequest` if it is absent. */
export const requiredText = (name: string, description: string) => ({
  parameters: [{ name, description, schema: z.string().min(1), required: true as const }],
  read(query: URLSearchParams): string {
    const value = parameter(query, name);
    if (value === undefined) throw badRequest("filter", `${name} is required.`);
    return value;
  },
});

/** Declares a parameter that contains values separated by commas and can have any of several names. */
export const texts = (names: string | readonly string[], description: string) => ({
  parameters: namesOf(names).map((name) => ({
    name,
    description: `${description} Separated by commas.`,
    schema: z.string(),
  })),
  read: (query: URLSearchParams): string[] =>
    namesOf(names).flatMap((name) =>
      (parameter(query, name) ?? "")
        .split(",")
        .map((value) => value.trim())
        .filter((value) => value !== ""),
    ),
});

/**
 * Declares a parameter with a fixed set of values. Its value is empty if the parameter is absent. Reading throws
 * `badRequest` for a value that is not in the set.
 */
export const choice = (
  name: string,
  values: readonly string[],
  description: string,
  reason = name,
) => ({
  parameters: [{ name, description, schema: z.enum(values) }],
  read(query: URLSearchParams): string {
    const value = parameter(query, name) ?? "";
    if (value !== "" && !values.includes(value)) {
      throw badRequest(reason, `${name} must be one of ${values.join(", ")}.`);
    }
    return value;
  },
});

/**
 * Declares a parameter with values of a fixed set, separated by commas. Reading throws `badRequest` for a value that is
 * not in the set.
 */
export const choices = (
  name: string,
  values: readonly string[],
  description: string,
  reason = name,
) => {
  const { parameters, read } = texts(name, `${description} Any of ${values.join(", ")}.`);
  return {
    parameters,
    read(query: URLSearchParams): string[] {
      const requested = read(query);
      if (requested.some((value) => !values.includes(value))) {
        throw badRequest(reason, `${name} must be one of ${values.join(", ")}.`);
      }
      return requested;
    },
  };
};

/** Declares a boolean parameter; it is undefined unless its value is `true` or `false`. */
export const flag = (name: string, description: string) => ({
  parameters: [{ name, description, schema: z.enum(["true", "false"]) }],
  read(query: URLSearchParams): boolean | undefined {
    const value = parameter(query, name);
    return value === "true" ? true : value === "false" ? false : undefined;
  },
});
