import type { App } from "../app.ts";
import { principalNotFound } from "../errors-domain.ts";

/** Returns the name of a user or team. Throws `notFound`. */
export async function getPrincipalName(
  app: App,
  { type, id }: { type: string; id: string },
): Promise<string> {
  const name = await app.reads.principalNames.find(type, id);
  if (name === undefined) throw principalNotFound();
  return name;
}
