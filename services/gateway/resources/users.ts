import type { User } from "@statehouse/proto/statehouse/access/v1/user";
import type { RequestContext } from "../http/route.ts";
import { related } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";

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

const publicAttributes = ({ username }: User) => ({
  username,
  "is-service-account": false,
  "auth-method": "token",
  "avatar-url": null,
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

/** Another person, as includes show them: without the address, which is not everybody's to know. */
export const userResource = resource<User, RequestContext>({
  ...common,
  attributes: publicAttributes,
  loadMany: async (ids, { services, caller }) =>
    (await services.access.users.batchGetUsers({ ids: [...ids] }, caller)).users,
});

/** The calling user, to themselves. */
export const accountResource = resource<User, RequestContext>({
  ...common,
  attributes: (user) => ({
    ...publicAttributes(user),
    email: user.email,
    "unconfirmed-email": null,
    "is-admin": user.administrator,
    "is-site-admin": user.administrator,
    permissions: own,
  }),
});

/** A user, to who administers the installation. */
export const administeredUserResource = resource<User, RequestContext>({
  ...common,
  attributes: (user) => ({
    ...publicAttributes(user),
    email: user.email,
    "is-admin": user.administrator,
    "is-suspended": user.suspended,
  }),
});
