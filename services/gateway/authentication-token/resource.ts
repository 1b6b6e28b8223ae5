import type { Token } from "@statehouse/proto/statehouse/access/v1/token";
import type { RequestContext } from "../http/route.ts";
import { toOne, toOneOf } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalText, optionalTime, time } from "../jsonapi/shape.ts";
import { timestamp } from "../timestamps-resource.ts";

/** A token. `secret` is set only in the response to the request that creates the token. */
type AuthenticationToken = Token & { secret?: string };

/** Adds the secret to the token of a response. */
export const withSecret = ({ token, secret }: { token?: Token | undefined; secret: string }) => ({
  token: token && { ...token, secret },
});

const makerTypes: Readonly<Record<string, string>> = {
  user: "users",
  team: "teams",
  organization: "organizations",
};

export const authenticationTokenResource = resource<AuthenticationToken, RequestContext>({
  type: "authentication-tokens",
  id: ({ id }) => id,
  attributes: {
    description: [optionalText, ({ description }) => description ?? null],
    "created-at": [time, ({ createdAt }) => timestamp(createdAt)],
    "last-used-at": [optionalTime, ({ lastUsedAt }) => timestamp(lastUsedAt)],
    "expired-at": [optionalTime, ({ expiredAt }) => timestamp(expiredAt)],
    token: [
      optionalText.describe("The secret, shown only by the response that creates the token."),
      ({ secret }) => secret ?? null,
    ],
  },
  relationships: {
    "created-by": toOne({
      types: Object.values(makerTypes),
      linkage: ({ createdByType, createdById }) => {
        const type = makerTypes[createdByType];
        return type ? { type, id: createdById } : null;
      },
    }),
    team: toOneOf({ type: "teams", idOf: ({ teamId }) => teamId }),
  },
  hasSecret: ({ secret }) => secret !== undefined,
  links: ({ id }) => ({ self: `/api/v2/authentication-tokens/${id}` }),
});
