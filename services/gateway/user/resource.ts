import type { User } from "@statehouse/proto/statehouse/access/v1/user";
import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import { z } from "zod";
import { avatarPath } from "../avatar/resource.ts";
import type { RequestContext } from "../http/route.ts";
import { related, toOne } from "../jsonapi/relationship.ts";
import { type Attributes, type Identifier, resource } from "../jsonapi/resource.ts";
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

const publicAttributes: Attributes<{ id: string; username: string }, RequestContext> = {
  username: [z.string(), ({ username }) => username],
  "is-service-account": [z.boolean(), () => false],
  "auth-method": [z.string(), () => "token"],
  "avatar-url": [z.string(), ({ id }, { settings }) => `${settings.publicUrl}${avatarPath(id)}`],
  "v2-only": [z.boolean(), () => true],
  "is-confirmed": [z.boolean(), () => true],
  "two-factor": [
    z.object({ enabled: z.boolean(), verified: z.boolean() }),
    () => ({ enabled: false, verified: false }),
  ],
};

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
  attributes: {
    ...publicAttributes,
    email: [optionalText, ({ email }) => email || null],
  },
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
  attributes: { ...publicAttributes, "is-service-account": [z.boolean(), () => true] },
});

/** The principal of a token. A team or an organization appears as a synthetic user. */
export interface Account extends Identifier {
  username: string;
  /** Undefined if the principal is not a user. */
  user?: User;
}

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
  id: ({ id }) => id,
  attributes: {
    ...publicAttributes,
    "is-service-account": [z.boolean(), ({ user }) => user === undefined],
    email: [optionalText, ({ user }) => user?.email ?? null],
    "unconfirmed-email": [optionalText, ({ user }) => user?.unconfirmedEmail ?? null],
    "is-admin": [z.boolean(), ({ user }) => user?.administrator ?? false],
    "is-site-admin": [z.boolean(), ({ user }) => user?.administrator ?? false],
    permissions: [
      z.object(Object.fromEntries(Object.keys(own).map((name) => [name, z.boolean()]))),
      ({ user }) => (user ? own : impersonal),
    ],
  },
  relationships: {
    "authentication-tokens": related(
      ({ type, id, user }) => `/api/v2/${type}/${id}/authentication-token${user ? "s" : ""}`,
    ),
    "authenticated-resource": toOne({
      types: ["users", "teams", "organizations"],
      linkage: ({ type, id }) => ({ type, id }),
    }),
  },
  links: ({ type, id }) => ({ self: `/api/v2/${type}/${id}` }),
});

/** A user as administrators see it; as an owner, with the id of the organization. */
export const administeredUserResource = resource<
  User & { organizationId?: string },
  RequestContext
>({
  ...common,
  variant: "administered",
  attributes: {
    ...publicAttributes,
    email: [z.string(), ({ email }) => email],
    "is-admin": [z.boolean(), ({ administrator }) => administrator],
    "is-suspended": [z.boolean(), ({ suspended }) => suspended],
  },
});
