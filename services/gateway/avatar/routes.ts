import { notFound } from "@statehouse/errors";
import { svg } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { avatarOf } from "./resource.ts";

/** Matches the ids of users, teams and runs, and the names of organizations. */
const ID = /^[\w-]{1,100}$/;

/** The images to which `avatar-url` refers. */
export const avatarRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/avatars/:id",
    under: "root",
    summary: "Show the image that is computed from an id",
    success: [200, svg],
    failures: [404],
    credentials: "none",
    handle: ({ params }) => {
      if (!ID.test(params.id)) throw notFound("image");
      return avatarOf(params.id);
    },
  }),
];
