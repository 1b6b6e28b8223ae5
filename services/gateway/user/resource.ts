import type { User } from "@statehouse/proto/statehouse/access/v1/user";
import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import { z } from "zod";
import { avatarPath } from "../avatar/resource.ts";
import type { RequestContext } from "../http/route.ts";
import { related, toOne } from "../jsonapi/relationship.ts";
import { type Identifier, resource } from "../jsonapi/resource.ts";
import { optionalText } from "../jsonapi/shape.ts";

const own = {
  "can-create-organizations": true,
  "can-view-organizations": true,
  "can-view-settings": true,
  "can-view-profile": true,
  "can-change-email": true,
  "can-change-username": true,
  "can-change-password": false,
  "can-manage-sessions": false,
  "can-manage-user-tokens": true,
  "can-update-user": true,
} as const;

const publicShape = {
  username: z.string(),
  "is-service-account": z.boolean(),
  "auth-method": z.string(),
  "avatar-url": z.string(),
  "v2-only": z.boolean(),
  "is-confirmed": z.boolean(),
  "two-factor": z.object({ enabled: z.boolean(), verified: z.boolean() }),
} as const;

const publicAttributes = (
  { id, username }: { id: string; username: string },
  { settings }: RequestContext,
) => ({
  username,
  "is-service-account": false,
  "auth-method": "token",
  "avatar-url": `${settings.publicUrl}${avatarPath(id)}`,
  "v2-only": true,
  "is-confirmed": true,
  "two-factor": { enabled: false, verified: false },
});

const common = {
  type: "users",
  id: ({ id }: User) => id,
  relationships: {
    "authentication-tokens": related<User>(({ id }) => `/api/v2/users/${id}/authentication-tokens`),
  },
  links: ({ id }: User) => ({ self: `/api/v2/users/${id}` }),
};

const loadUsers = async (ids: readonly string[], { client, caller }: RequestContext) =>
  (await client(UserService).batchGetUsers({ ids: [...ids] }, caller)).users;

/**
 * A user in the form that other documents include: without the e-mail address, which is not public. The username is
 * empty while the user's invitation is pending.
 */
export const userResource = resource<User, RequestContext>({
  ...common,
  shape: publicShape,
  attributes: publicAttributes,
  loadMany: loadUsers,
});

/**
 * A user in the form that documents of memberships include: with the e-mail address, which is null for callers who are
 * not allowed to see it.
 */
export const memberResource = resource<User, RequestContext>({
  ...common,
  variant: "member",
  shape: { ...publicShape, email: optionalText },
  attributes: (user, context) => ({
    ...publicAttributes(user, context),
    email: user.email || null,
  }),
  loadMany: loadUsers,
});

/** The account that appears as the author of states that runs wrote. It has no token (ADR 33). */
export const internalAccount = {
  id: "user-runsofstatehouse",
  username: "statehouse-runs",
} as const;

export const internalAccountResource = resource<typeof internalAccount, RequestContext>({
  type: "users",
  variant: "service-account",
  id: ({ id }) => id,
  shape: publicShape,
  attributes: (account, context) => ({
    ...publicAttributes(account, context),
    "is-service-account": true,
  }),
});

/** The principal of a token. A team or an organization appears as a synthetic user. */
export type Account =
  | { kind: "user"; user: User }
  | { kind: "service"; resource: Identifier; username: string };

const identifierOf = (account: Account): Identifier =>
  account.kind === "user" ? { type: "users", id: account.user.id } : account.resource;

/** The permissions of the synthetic user for a token that does not belong to a user. */
const impersonal = {
  ...Object.fromEntries(Object.keys(own).map((name) => [name, false])),
  "can-view-organizations": true,
  "can-view-profile": true,
};

/** The account of the caller. */
export const accountResource = resource<Account, RequestContext>({
  type: "users",
  variant: "account",
  id: (account) => identifierOf(account).id,
  shape: {
    ...publicShape,
    email: optionalText,
    "unconfirmed-email": optionalText,
    "is-admin": z.boolean(),
    "is-site-admin": z.boolean(),
    permissions: z.object(Object.fromEntries(Object.keys(own).map((name) => [name, z.boolean()]))),
  },
  attributes: (account, context) =>
    account.kind === "user"
      ? {
          ...publicAttributes(account.user, context),
          email: account.user.email,
          "unconfirmed-email": account.user.unconfirmedEmail ?? null,
          "is-admin": account.user.administrator,
          "is-site-admin": account.user.administrator,
          permissions: own,
        }
      : {
          ...publicAttributes({ ...account, id: identifierOf(account).id }, context),
          "is-service-account": true,
          email: null,
          "unconfirmed-email": null,
          "is-admin": false,
          "is-site-admin": false,
          permissions: impersonal,
        },
  relationships: {
    "authentication-tokens": related((account) =>
      account.kind === "user"
        ? `/api/v2/users/${account.user.id}/authentication-tokens`
        : `/api/v2/${account.resource.type}/${account.resource.id}/authentication-token`,
    ),
    "authenticated-resource": toOne({
      types: ["users", "teams", "organizations"],
      linkage: identifierOf,
    }),
  },
  links: (account) => {
    const { type, id } = identifierOf(account);
    return { self: `/api/v2/${type}/${id}` };
  },
});

/** A user as administrators see it. */
export const administeredUserResource = resource<User, RequestContext>({
  ...common,
  variant: "administered",
  shape: {
    ...publicShape,
    email: z.string(),
    "is-admin": z.boolean(),
    "is-suspended": z.boolean(),
  },
  attributes: (user, context) => ({
    ...publicAttributes(user, context),
    email: user.email,
    "is-admin": user.administrator,
    "is-suspended": user.suspended,
  }),
});
