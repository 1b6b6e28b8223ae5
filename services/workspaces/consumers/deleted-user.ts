import { hint, projection } from "@statehouse/events";
import { parseId } from "@statehouse/postgres/ids";
import { UserDeletedSchema } from "@statehouse/proto/statehouse/access/v1/events";
import type { App } from "../app/app.ts";
import { removeAddressesOfDeleted } from "../app/deleted-user.ts";

/** Removes the addresses of deleted users from the audit trail. */
export const deletedUserProjection = (app: App) =>
  projection({
    hints: hint(UserDeletedSchema, ({ userId }) => parseId("user", userId)),
    refresh: (ids) => removeAddressesOfDeleted(app, ids),
  });
