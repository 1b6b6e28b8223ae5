import { notFound } from "@statehouse/errors";
import { TeamService } from "@statehouse/proto/statehouse/access/v1/team";
import { type User, UserService } from "@statehouse/proto/statehouse/access/v1/user";
import { OrganizationService } from "@statehouse/proto/statehouse/workspaces/v1/organization";
import { z } from "zod";
import { one } from "../http/rendering.ts";
import { type RequestContext, type Route, route } from "../http/route.ts";
import { documentBody, optional, section, uncheckedTypeOf } from "../jsonapi/body.ts";
import { type Account, accountResource } from "../user/resource.ts";

const accountOfUser = ({ user }: { user?: User | undefined }): Account | undefined =>
  user && { type: "users", id: user.id, username: user.username, user };

/** Returns the account of the caller's token. Throws `notFound` for tokens without an account, such as run tokens. */
async function accountOf({
  client,
  caller,
}: Pick<RequestContext, "client" | "caller">): Promise<Account | undefined> {
  const { type, id } = caller.principal;
  if (type === "team") {
    const { team } = await client(TeamService).getTeam({ id }, caller);
    return team && { type: "teams", id, username: `api-team-${team.name}` };
  }
  if (type === "organization") {
    const { organizations } = await client(OrganizationService).listOrganizations({}, caller);
    const name = organizations[0]?.name;
    if (name === undefined) throw notFound("account");
    return { type: "organizations", id: name, username: `api-org-${name}` };
  }
  return accountOfUser(await client(UserService).getCurrentUser({}, caller));
}

export const accountRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: "/account/details",
    summary: "Show the caller's account",
    success: [200, one(accountResource, "account")],
    failures: [404],
    handle: async (input) => ({ account: await accountOf(input) }),
  }),
  route({
    method: "PATCH",
    path: "/account/update",
    summary: "Change the caller's username and e-mail address",
    body: documentBody(
      z.object({
        type: uncheckedTypeOf("users"),
        attributes: section(
          z.object({ username: optional(z.string()), email: optional(z.string()) }),
        ),
      }),
    ),
    success: [200, one(accountResource, "account")],
    failures: [404, 422],
    credentials: ["user"],
    handle: async ({ client, body, caller }) => {
      const response = await client(UserService).updateCurrentUser(body.data.attributes, caller);
      return { account: accountOfUser(response) };
    },
  }),
];
