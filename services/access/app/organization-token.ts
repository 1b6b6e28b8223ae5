import { authorize, type Caller } from "@statehouse/authorization";
import { noSuchToken, unknownSlot } from "../domain/errors.ts";
import type { OrganizationId } from "../domain/ids.ts";
import { organizationSlots, type Slot, type Token } from "../domain/token.ts";
import type { App } from "./app.ts";
import { fillSlot, type NewToken, newToken, removeToken, type TokenOwner } from "./token.ts";

const ofOrganization = (organizationId: OrganizationId, slot: Slot): TokenOwner => ({
  type: "organization",
  userId: null,
  teamId: null,
  organizationId,
  slot,
});

/**
 * Creates the organization's token, replacing the previous one. Throws `notFound`, `forbidden`, `invalid`,
 * `badRequest`.
 */
export const createOrganizationToken = (
  app: App,
  caller: Caller,
  {
    organizationId,
    slot,
    expiredAt,
  }: {
    organizationId: OrganizationId;
    slot: string;
    expiredAt: Date | undefined;
  },
): Promise<NewToken> =>
  app.transaction(async (tx) => {
    await tx.organizations.getForUpdate(organizationId);
    authorize(caller, "organization:update", { organizationId });
    const owner = ofOrganization(organizationId, slotOf(slot));
    const made = newToken(app, caller, owner, { description: "", expiredAt });
    await fillSlot(app, tx, made.token);
    return made;
  });

/** Throws `notFound` also if there is none, `forbidden`. */
export async function getOrganizationToken(
  app: App,
  caller: Caller,
  { organizationId, slot }: { organizationId: OrganizationId; slot: string },
): Promise<Token> {
  authorize(caller, "organization:update", { organizationId });
  const token = await app.reads.tokens.inSlot(organizationId, null, slotOf(slot));
  if (!token) throw noSuchToken();
  return token;
}

/** Revokes it. Throws `notFound`, `forbidden`. */
export const deleteOrganizationToken = (
  app: App,
  caller: Caller,
  { organizationId, slot }: { organizationId: OrganizationId; slot: string },
): Promise<void> =>
  app.transaction(async (tx) => {
    await tx.organizations.getForUpdate(organizationId);
    authorize(caller, "organization:update", { organizationId });
    const token = await tx.tokens.findInSlot(organizationId, null, slotOf(slot));
    if (!token) throw noSuchToken();
    await removeToken(app, tx, token);
  });

/** Throws `badRequest`. */
function slotOf(name: string): Slot {
  const slot = organizationSlots.find((known) => known === (name || "plain"));
  if (!slot) throw unknownSlot();
  return slot;
}
