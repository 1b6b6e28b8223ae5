import { ReservedTagKeyService } from "@statehouse/proto/statehouse/workspaces/v1/reserved_tag_key";
import { longLivedCredentials } from "../http/authentication.ts";
import { page } from "../http/paging.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { bodyOf } from "../jsonapi/noun.ts";
import { reservedTagKeyNoun, reservedTagKeyResource } from "./resource.ts";

const ofOrganization = "/organizations/:organizationName/reserved-tag-keys";
const byId = "/reserved-tag-keys/:reservedTagKeyId";

export const reservedTagKeyRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: ofOrganization,
    summary: "List an organization's reserved tag keys",
    query: { page },
    success: [200, list(reservedTagKeyResource)],
    failures: [400, 404],
    credentials: longLivedCredentials,
    handle: async ({ client, params, query, caller }) => {
      const { page } = query;
      const { organizationName } = params;
      const request = { organizationName, pageNumber: page.number, pageSize: page.size };
      const { reservedTagKeys, totalCount } = await client(
        ReservedTagKeyService,
      ).listReservedTagKeys(request, caller);
      return { items: reservedTagKeys, page, totalCount };
    },
  }),
  route({
    method: "POST",
    path: ofOrganization,
    summary: "Reserve a tag key",
    ...bodyOf(reservedTagKeyNoun, ["key"]),
    success: [201, one(reservedTagKeyResource)],
    failures: [404, 422],
    credentials: longLivedCredentials,
    handle: async ({ client, params, body, caller }) => {
      const wanted = { ...body, organizationName: params.organizationName };
      return (await client(ReservedTagKeyService).createReservedTagKey(wanted, caller))
        .reservedTagKey;
    },
  }),
  route({
    method: "PATCH",
    path: byId,
    summary: "Change a reserved tag key",
    ...bodyOf(reservedTagKeyNoun),
    success: [200, one(reservedTagKeyResource)],
    failures: [404, 422],
    credentials: longLivedCredentials,
    handle: async ({ client, params, body, caller }) => {
      const wanted = { ...body, id: params.reservedTagKeyId };
      return (await client(ReservedTagKeyService).updateReservedTagKey(wanted, caller))
        .reservedTagKey;
    },
  }),
  route({
    method: "DELETE",
    path: byId,
    summary: "Delete a reserved tag key",
    success: [204],
    failures: [404],
    credentials: longLivedCredentials,
    handle: ({ client, params, caller }) =>
      client(ReservedTagKeyService).deleteReservedTagKey({ id: params.reservedTagKeyId }, caller),
  }),
];
