import type { Grants } from "@statehouse/authorization";
import { principalNotFound } from "../domain/errors.ts";
import type { App } from "./app.ts";
import { getRunGrants } from "./run-token.ts";

/** Returns all grants of a principal, with the versions at which they were read. Throws `notFound`. */
export async function getGrants(app: App, { type, id }: Grants["principal"]): Promise<Grants> {
  if (type === "run") return getRunGrants(app, id);
  const grants = await app.reads.grants.find({ type, id });
  if (!grants) throw principalNotFound();
  return grants;
}
