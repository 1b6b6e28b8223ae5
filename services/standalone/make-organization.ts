import { StartError } from "@statehouse/runtime";
import type { CliAccess } from "./cli-configuration.ts";

/**
 * Creates the organization through the public API, unless the token's user can read one of this name. Without `email`
 * the organization has the user's address. Returns `refused` if the token is not valid. Throws `StartError`.
 */
export async function makeOrganization(
  { url, token }: CliAccess,
  { name, email }: { name: string; email?: string },
): Promise<"found" | "made" | "refused"> {
  const send = (path: string, init: RequestInit = {}) =>
    fetch(`${url}/api/v2/${path}`, {
      ...init,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/vnd.api+json",
      },
    });
  const found = await send(`organizations/${encodeURIComponent(name)}`);
  if (found.ok) return "found";
  if (found.status === 401) return "refused";
  const attributes = { name, email: email ?? (await emailOf(await send("account/details"))) };
  const made = await send("organizations", {
    method: "POST",
    body: JSON.stringify({ data: { type: "organizations", attributes } }),
  });
  if (!made.ok) {
    throw new StartError(`The organization ${name} could not be created: ${await made.text()}`);
  }
  return "made";
}

async function emailOf(account: Response): Promise<unknown> {
  if (!account.ok)
    throw new StartError(`The user of the token is unknown: ${await account.text()}`);
  const { data }: { data: { attributes: { email: unknown } } } = JSON.parse(await account.text());
  return data.attributes.email;
}
