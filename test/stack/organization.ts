import { randomBytes } from "node:crypto";
import { type Api, document } from "./http.ts";
import type { Stack } from "./stack.ts";

/** Returns a name that no other test uses. */
export const unusedName = (prefix: string): string => `${prefix}-${randomBytes(5).toString("hex")}`;

/** Creates an organization as the caller of `api`; returns its name. */
export async function newOrganization(api: Api, name = unusedName("org")): Promise<string> {
  const created = await api.post(
    "/organizations",
    document("organizations", { name, email: "owner@example.com" }),
  );
  if (created.status !== 201)
    throw new Error(`Cannot create an organization: ${JSON.stringify(created.body)}`);
  return name;
}

/**
 * Returns an organization's internal id, which the access service's methods for teams require. The API never shows this
 * id.
 */
export async function organizationId({ rows }: Pick<Stack, "rows">, name: string): Promise<string> {
  const sql = "select id from organizations where name = $1";
  const [found] = await rows<{ id: string }>("workspaces", sql, [name]);
  if (!found) throw new Error(`no organization ${name}`);
  return found.id;
}
