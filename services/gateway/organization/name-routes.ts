import { OrganizationService } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import type { RequestContext } from "../http/route.ts";

type Context = Pick<RequestContext, "client" | "caller">;

/**
 * Returns the internal id of the organization that the path names, because the access service does not know names.
 * Throws `notFound`.
 */
export async function organizationIdOf({
  client,
  caller,
  params: { organizationName: name },
}: Context & { params: { organizationName: string } }): Promise<string> {
  const found = await client(OrganizationService).getOrganization({ name }, caller);
  return found.organization?.id ?? "";
}

/** Adds the organization's name to an item, because documents show the name. */
export async function withOrganizationName<Item extends { organizationId: string }>(
  { client, caller }: Context,
  item: Item | undefined,
): Promise<(Item & { organizationName: string }) | undefined> {
  if (!item) return undefined;
  const ids = [item.organizationId];
  const found = await client(OrganizationService).batchGetOrganizations({ ids }, caller);
  return { ...item, organizationName: found.organizations[0]?.name ?? "" };
}
