import type { AuthenticationLeaseService } from "@statehouse/proto/statehouse/access/v1/authentication_lease";
import { type CallContext, isRead, type ServiceBinding, type ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { tokenId } from "./ids.ts";

export const authenticationLeaseService = (
  app: App,
): ServiceImpl<typeof AuthenticationLeaseService> => ({
  renewLease: async ({ holder, position, leaseMs, usedTokenIds }) => {
    const at = app.now();
    for (const id of usedTokenIds) app.tokenUsage.note(tokenId(id), at);
    return app.authenticationLeases.renew({ holder, position, leaseMs });
  },
  returnLease: async ({ holder }) => {
    await app.authenticationLeases.giveBack(holder);
    return {};
  },
});

/**
 * Delays each response of a service's writing methods, including errors, until no process still uses principals that it
 * cached before the latest committed change. This applies even if the call itself changed nothing: it may repeat an
 * earlier request that made the change and then failed, perhaps in another replica.
 */
export const awaitingHolders = (app: App, { desc, methods }: ServiceBinding): ServiceBinding => ({
  desc,
  methods: Object.fromEntries(
    desc.methods.map((method) => {
      const { localName } = method;
      const run = methods[localName];
      if (!run || isRead(method)) return [localName, run];
      return [
        localName,
        async (request: never, context: CallContext) => {
          try {
            return await run(request, context);
          } finally {
            await app.authenticationLeases.awaitHolders();
          }
        },
      ];
    }),
  ) as typeof methods,
});
