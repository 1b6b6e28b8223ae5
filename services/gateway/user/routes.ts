import { UserService } from "@statehouse/proto/statehouse/access/v1/user";
import type { Client } from "@statehouse/rpc";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { flag, text } from "../http/query.ts";
import { list, one } from "../http/rendering.ts";
import {
  type RequestContext,
  type Route,
  route,
  routeForLongLivedCredentials,
} from "../http/route.ts";
import { documentBody, optional, section, uncheckedTypeOf } from "../jsonapi/body.ts";
import { administeredUserResource, userResource } from "./resource.ts";

type Users = Client<typeof UserService>;

const actions = {
  suspend: (users: Users, id: string, caller: RequestContext["caller"]) =>
    users.setUserSuspended({ id, suspended: true }, caller),
  unsuspend: (users: Users, id: string, caller: RequestContext["caller"]) =>
    users.setUserSuspended({ id, suspended: false }, caller),
  grant_admin: (users: Users, id: string, caller: RequestContext["caller"]) =>
    users.setUserAdministrator({ id, administrator: true }, caller),
  revoke_admin: (users: Users, id: string, caller: RequestContext["caller"]) =>
    users.setUserAdministrator({ id, administrator: false }, caller),
};

const summaries: Record<keyof typeof actions, string> = {
  suspend: "Suspend a user, whose tokens then fail at once",
  unsuspend: "Unsuspend a user",
  grant_admin: "Make a user an administrator of the installation",
  revoke_admin: "Make an administrator an ordinary user",
};

/** Actions that the access service refuses if they would leave no administrator. */
const lasting: ReadonlySet<string> = new Set(["suspend", "revoke_admin"]);

export const userRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "GET",
    path: "/users/:userId",
    summary: "Show a user who shares an organization with the caller",
    success: [200, one(userResource, "user")],
    failures: [404],
    handle: ({ client, params, caller }) =>
      client(UserService).getUser({ id: params.userId }, caller),
  }),
  route({
    method: "GET",
    path: "/admin/users",
    summary: "List all users of the installation",
    query: {
      page,
      query: text("q", "Part of the user's name or address."),
      administrator: flag(
        "filter[admin]",
        "If true, only administrators; if false, only ordinary users.",
      ),
      suspended: flag(
        "filter[suspended]",
        "If true, only suspended users; if false, only users who are not suspended.",
      ),
    },
    success: [200, list(administeredUserResource, "users")],
    failures: [400, 404],
    credentials: ["user"],
    handle: ({ client, query: { page, ...filters }, caller }) =>
      client(UserService).listUsers({ ...filters, ...page }, caller),
  }),
  route({
    method: "POST",
    path: "/admin/users",
    summary: "Add a user to the installation",
    body: documentBody(
      z.object({
        type: uncheckedTypeOf("users"),
        attributes: section(
          z.object({
            username: z.string(),
            email: z.string(),
            "is-admin": optional(z.boolean()),
          }),
        ),
      }),
    ),
    success: [201, one(administeredUserResource, "user")],
    failures: [404, 422],
    credentials: ["user"],
    handle: ({ client, body, caller }) => {
      const { username, email, "is-admin": administrator = false } = body.data.attributes;
      return client(UserService).createUser({ username, email, administrator }, caller);
    },
  }),
  route({
    method: "DELETE",
    path: "/admin/users/:userId",
    summary: "Delete a user with its memberships and tokens",
    success: [204],
    failures: [404, 409],
    credentials: ["user"],
    handle: ({ client, params, caller }) =>
      client(UserService).deleteUser({ id: params.userId }, caller),
  }),
  ...Object.entries(actions).map(([name, act]) =>
    route({
      method: "POST",
      path: `/admin/users/:userId/actions/${name}`,
      summary: summaries[name as keyof typeof actions],
      success: [200, one(administeredUserResource, "user")],
      failures: lasting.has(name) ? [404, 409] : [404],
      credentials: ["user"],
      handle: ({ client, params, caller }) => act(client(UserService), params.userId, caller),
    }),
  ),
];
