import type { Token } from "@statehouse/proto/statehouse/access/v1/token";
import type { RequestContext } from "../http/route.ts";
import { toOne, toOneOf } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalText, optionalTime, time } from "../jsonapi/shape.ts";
import { timestamp } from "../timestamps-resource.ts";

/** A token. `secret` is set only in the response to the request that creates the token. */
export interface AuthenticationToken {
  token: Token;
  secret?: string;
}

const makerTypes: Readonly<Record<string, string>> = {
  user: "users",
  team: "teams",
  organization: "organizations",
};

export const authenticationTokenResource = resource<AuthenticationToken, RequestContext>({
  type: "authentication-tokens",
  id: ({ token }) => token.id,
  attributes: {
    description: [optionalText, ({ token }) => token.description ?? null],
    "created-at": [time, ({ token }) => timestamp(token.createdAt)],
    "last-used-at": [optionalTime, ({ token }) => timestamp(token.lastUsedAt)],
    "expired-at": [optionalTime, ({ token }) => timestamp(token.expiredAt)],
    token: [
      optionalText.describe("The secret, shown only by the response that creates the token."),
      ({ secret }) => secret ?? null,
    ],
  },
  relationships: {
    "created-by": toOne({
      types: Object.values(makerTypes),
      linkage: ({ token: { createdByType, createdById } }) => {
        const type = makerTypes[createdByType];
        return type ? { type, id: createdById } : null;
      },
    }),
    team: toOneOf({ type: "teams", idOf: ({ token }) => token.teamId }),
  },
  hasSecret: ({ secret }) => secret !== undefined,
  links: ({ token }) => ({ self: `/api/v2/authentication-tokens/${token.id}` }),
});
