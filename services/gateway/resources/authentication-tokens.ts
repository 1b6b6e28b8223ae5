import type { UserToken } from "@statehouse/proto/statehouse/access/v1/user_token";
import type { RequestContext } from "../http/route.ts";
import { toOne } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { timestamp } from "./timestamps.ts";

/** A token, with its secret only in the answer that made it. */
export interface AuthenticationToken {
  token: UserToken;
  secret?: string;
}

export const authenticationTokenResource = resource<AuthenticationToken, RequestContext>({
  type: "authentication-tokens",
  id: ({ token }) => token.id,
  attributes: ({ token, secret }) => ({
    description: token.description,
    "created-at": timestamp(token.createdAt),
    "last-used-at": timestamp(token.lastUsedAt),
    "expired-at": timestamp(token.expiredAt),
    token: secret ?? null,
  }),
  relationships: {
    "created-by": toOne({
      linkage: ({ token }) =>
        token.createdByUserId ? { type: "users", id: token.createdByUserId } : null,
    }),
  },
  links: ({ token }) => ({ self: `/api/v2/authentication-tokens/${token.id}` }),
});
