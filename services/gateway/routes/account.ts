import { one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
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
];
