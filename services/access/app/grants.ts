import type { Principal } from "@statehouse/authorization";
import { noSuchPrincipal } from "../domain/errors.ts";
import type { PrincipalGrants } from "../domain/grants.ts";
import type { App } from "./app.ts";
import { getRunGrants } from "./run-token.ts";

/** Everything a principal may do, with the versions it was read at. Throws `notFound`. */
export async function getGrants(
  app: App,
  { type, id }: { type: string; id: Principal["id"] },
): Promise<PrincipalGrants> {
  if (type === "run") return getRunGrants(app, id);
  const grants = await app.reads.grants.find(type, id);
  if (!grants) throw noSuchPrincipal();
  return grants;
}
