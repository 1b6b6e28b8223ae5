import { authorize, type Caller } from "@statehouse/authorization";
import { Problems } from "@statehouse/errors";
import type { PageInput } from "@statehouse/postgres";
import { newId } from "@statehouse/postgres/ids";
import type { Page } from "@statehouse/postgres/paging";
import type { App } from "../app.ts";
import type { Tx } from "../nouns.ts";
import { getOrganization } from "../organization/app.ts";
import { touch } from "../revision-domain.ts";
import {
  applyReservedTagKey,
  newReservedTagKey,
  type ReservedTagKey,
  type ReservedTagKeyId,
  type ReservedTagKeyInput,
} from "./domain.ts";
import {
  type ReservedTagKeyView,
  reservedTagKeyCreated,
  reservedTagKeyDeleted,
  reservedTagKeyUpdated,
} from "./store.ts";

/**
 * Returns the organization's reserved tag keys, ordered by key. Throws `notFound` if the caller does not belong to the
 * organization.
 */
export async function listReservedTagKeys(
  app: App,
  caller: Caller,
  { organizationName, page }: { organizationName: string; page: PageInput },
): Promise<Page<ReservedTagKeyView>> {
  const { id } = await getOrganization(app, caller, organizationName);
  return app.reads.reservedTagKeys.page(id, page);
}

/** Throws `notFound`, `forbidden`, or `invalid`. */
export const createReservedTagKey = (
  app: App,
  caller: Caller,
  { organizationName, ...input }: ReservedTagKeyInput & { organizationName: string },
): Promise<ReservedTagKeyView> =>
  app.transaction(async (tx) => {
    const { id: organizationId } = await tx.organizations.getByName(organizationName);
    authorize(caller, "organization:update", { organizationId });
    const reservedTagKey = newReservedTagKey(newId("rtk"), organizationId, app.now());
    apply(app, tx, reservedTagKey, input);
    await tx.record(reservedTagKeyCreated(reservedTagKey));
    return reservedTagKey;
  });

/**
 * Changes the fields in the request; absent fields keep their value. Bindings that already override the project's value
 * remain.
 */
export const updateReservedTagKey = (
  app: App,
  caller: Caller,
  { id, ...input }: ReservedTagKeyInput & { id: ReservedTagKeyId },
): Promise<ReservedTagKeyView> =>
  app.transaction(async (tx) => {
    const reservedTagKey = await tx.reservedTagKeys.getForUpdate(id);
    authorize(caller, "organization:update", reservedTagKey, "reserved tag key");
    apply(app, tx, reservedTagKey, input);
    await tx.record(reservedTagKeyUpdated(reservedTagKey));
    return reservedTagKey;
  });

/** Deletes the reservation of a key. Existing bindings with this key do not change. */
export const deleteReservedTagKey = (
  app: App,
  caller: Caller,
  id: ReservedTagKeyId,
): Promise<void> =>
  app.transaction(async (tx) => {
    const reservedTagKey = await tx.reservedTagKeys.getForUpdate(id);
    authorize(caller, "organization:update", reservedTagKey, "reserved tag key");
    touch(reservedTagKey, app.now());
    await tx.record(reservedTagKeyDeleted(reservedTagKey));
    tx.reservedTagKeys.remove(reservedTagKey);
  });

function apply(app: App, tx: Tx, reserved: ReservedTagKey, input: ReservedTagKeyInput): void {
  const problems = new Problems();
  applyReservedTagKey(reserved, input, { problems, now: app.now() });
  problems.throwIfAny();
  tx.reservedTagKeys.save(reserved);
}
