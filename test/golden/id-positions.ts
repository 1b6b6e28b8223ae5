import type { Route } from "@statehouse/gateway/http/route";
import { z } from "zod";

/** A position in a route's request body that accepts an id. */
export interface IdPosition {
  /** The path from the root of the body; `0` stands for the items of a list. */
  path: readonly string[];
  /** The resource type next to the id in the body, or the attribute's name if the body has no type there. */
  kind: string;
}

interface Schema {
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  const?: unknown;
}

/** Attributes that contain ids of other systems, which Statehouse does not check. */
const elsewhere: ReadonlySet<string> = new Set([
  "oauth-token-id",
  "owners-team-saml-role-id",
  "sso-team-id",
  "vcs-app-installation-id",
]);

/**
 * Returns every position in the route's body that accepts an id. The positions are derived from the body's schema, so
 * that none is missed.
 */
export function idPositions({ body }: Route): IdPosition[] {
  if (!body) return [];
  const found: IdPosition[] = [];
  collect(z.toJSONSchema(body, { io: "input", unrepresentable: "any" }) as Schema, [], found);
  return [...new Map(found.map((position) => [position.path.join("/"), position])).values()];
}

function collect(schema: Schema, path: readonly string[], found: IdPosition[]): void {
  for (const either of [schema.anyOf, schema.oneOf, schema.allOf].flatMap((all) => all ?? [])) {
    collect(either, path, found);
  }
  if (schema.items) collect(schema.items, [...path, "0"], found);
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const type = schema.properties?.type?.const;
    const isId = name === "id" || name.endsWith("-id");
    if (isId && !elsewhere.has(name)) {
      found.push({
        path: [...path, name],
        kind: typeof type === "string" && name === "id" ? type : name,
      });
    }
    collect(inner, [...path, name], found);
  }
}

/** Returns a copy of the body with the id, and its type, at that position. */
export function withId(body: unknown, { path, kind }: IdPosition, id: string): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return id;
  if (key === "0") return [withId({}, { path: rest, kind }, id)];
  const members = typeof body === "object" && body !== null ? { ...body } : {};
  const inner: unknown = Reflect.get(members, key);
  const beside = rest.length === 0 && key === "id" && kind !== "id" ? { type: kind } : {};
  return { ...members, ...beside, [key]: withId(inner, { path: rest, kind }, id) };
}
