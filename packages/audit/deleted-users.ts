import { type Consumer, hint, projection } from "@statehouse/events";
import { parseId } from "@statehouse/postgres/ids";
import { UserDeletedSchema } from "@statehouse/proto/statehouse/access/v1/events";
import type { Audit } from "./audit.ts";

interface Options {
  audit: Pick<Audit, "removeAddresses">;
  /** Returns whether the user exists, according to the access service. An event is only a hint and can be forged. */
  exists: (userId: `user-${string}`) => Promise<boolean>;
}

/** Returns the consumer that removes the client addresses of deleted users' requests from a service's audit trail. */
export const deletedUsers = ({ audit, exists }: Options): Consumer => ({
  name: "deleted-users",
  filter: "statehouse.access.user.deleted.>",
  projections: [
    projection({
      hints: hint(UserDeletedSchema, ({ userId }) => parseId("user", userId)),
      async refresh(ids) {
        for (const id of ids) if (!(await exists(id))) await audit.removeAddresses(id);
      },
    }),
  ],
});
