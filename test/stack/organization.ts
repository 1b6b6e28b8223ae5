import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { type Api, document } from "./http.ts";
import type { Stack } from "./stack.ts";

/** A name that nobody else has. */
export const unusedName = (prefix: string): string => `${prefix}-${randomBytes(5).toString("hex")}`;

/** An organization of whoever `api` calls as; answers with its name. */
export async function newOrganization(api: Api, name = unusedName("org")): Promise<string> {
  const created = await api.post(
    "/organizations",
    document("organizations", { name, email: "owner@example.com" }),
  );
  if (created.status !== 201) throw new Error(`No organization: ${JSON.stringify(created.body)}`);
  return name;
}

/** Its internal id, which access wants for teams and which the API never shows. */
export async function organizationId({ databases }: Stack, name: string): Promise<string> {
  const client = new Client({ connectionString: databases.workspaces });
  await client.connect();
  try {
    const { rows } = await client.query("select id from organizations where name = $1", [name]);
    return rows[0].id;
  } finally {
    await client.end();
  }
}
