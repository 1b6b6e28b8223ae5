import { authorize, type Caller } from "@statehouse/authorization";
import type { App } from "../app.ts";
import { tokenNotFound, unknownTokenSlot } from "../errors-domain.ts";
import type { OrganizationId } from "../ids-domain.ts";
import { createToken, type NewToken, removeTokenInSlot, type TokenInput } from "./app.ts";
import { organizationSlots, type Slot, type TokenView } from "./domain.ts";

/**
 * Creates the token of a slot, which replaces the previous token of that slot. Throws `notFound`, `forbidden`,
 * `invalid` or `badRequest`.
 */
export const createOrganizationToken = (
  app: App,
  caller: Caller,
  { organizationId, slot, ...input }: TokenInput & { organizationId: OrganizationId; slot: string },
): Promise<NewToken> =>
  app.transaction(async (tx) => {
    const organization = await tx.organizations.getForUpdate(organizationId);
    authorize(caller, "organization:update", { organizationId });
    const owner = { type: "organization", organizationId, slot: slotOf(slot) } as const;
    return createToken(app, tx, caller, owner, { ...input, organization });
  });

/**
 * Returns the token of a slot. Throws `notFound`, `forbidden` or `badRequest`; also throws `notFound` if the slot has
 * no token.
 */
export async function getOrganizationToken(
  app: App,
  caller: Caller,
  { organizationId, slot }: { organizationId: OrganizationId; slot: string },
): Promise<TokenView> {
  authorize(caller, "organization:update", { organizationId });
  const token = await app.reads.tokens.findInSlot(organizationId, null, slotOf(slot));
  if (!token) throw tokenNotFound();
  return token;
}

/** Revokes the token of a slot. Throws the same errors as `getOrganizationToken`. */
export const deleteOrganizationToken = (
  app: App,
  caller: Caller,
  { organizationId, slot }: { organizationId: OrganizationId; slot: string },
): Promise<void> =>
  app.transaction(async (tx) => {
    await tx.organizations.getForUpdate(organizationId);
    authorize(caller, "organization:update", { organizationId });
    const removed = await removeTokenInSlot(app, tx, { organizationId, slot: slotOf(slot) });
    if (!removed) throw tokenNotFound();
  });

/** Parses the name of a slot; an empty name means `plain`. Throws `badRequest`. */
function slotOf(name: string): Slot {
  const slot = organizationSlots.find((known) => known === (name || "plain"));
  if (!slot) throw unknownTokenSlot();
  return slot;
}
