import { z } from "zod";
import { one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { documentBody, optional, section, typeOf } from "../jsonapi/body.ts";
import { accountResource } from "../resources/users.ts";

export const accountRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/account/details",
    summary: "Show who the caller is",
    success: [200, one(accountResource)],
    failures: [],
    handle: async ({ services: { access }, caller }) =>
      (await access.users.getCurrentUser({}, caller)).user,
  }),
  route({
    method: "PATCH",
    path: "/account/update",
    summary: "Change the calling user's name and address",
    body: documentBody(
      z.object({
        type: typeOf("users"),
        attributes: section(
          z.object({ username: optional(z.string()), email: optional(z.string()) }),
        ),
      }),
    ),
    success: [200, one(accountResource)],
    failures: [422],
    credentials: ["user"],
    handle: async ({ services: { access }, body, caller }) => {
      const { username, email } = body.data.attributes;
      return (
        await access.users.updateCurrentUser(
          {
            ...(username === undefined ? {} : { username }),
            ...(email === undefined ? {} : { email }),
          },
          caller,
        )
      ).user;
    },
  }),
];
