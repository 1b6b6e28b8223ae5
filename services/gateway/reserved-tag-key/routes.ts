import { ReservedTagKeyService } from "@statehouse/proto/statehouse/workspaces/v1/reserved_tag_key";
import { page } from "../http/paging.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { bodyOf } from "../jsonapi/noun.ts";
import { reservedTagKeyNoun, reservedTagKeyResource } from "./resource.ts";

const ofOrganization = "/organizations/:organizationName/reserved-tag-keys";
const byId = "/reserved-tag-keys/:reservedTagKeyId";

export const reservedTagKeyRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "GET",
    path: ofOrganization,
    summary: "List an organization's reserved tag keys",
    query: { page },
    success: [200, list(reservedTagKeyResource, "reservedTagKeys")],
    failures: [400, 404],
    handle: ({ client, params, query: { page }, caller }) =>
      client(ReservedTagKeyService).listReservedTagKeys({ ...params, ...page }, caller),
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: ofOrganization,
    summary: "Reserve a tag key",
    ...bodyOf(reservedTagKeyNoun, ["key"]),
    success: [201, one(reservedTagKeyResource, "reservedTagKey")],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(ReservedTagKeyService).createReservedTagKey(
        { ...body, organizationName: params.organizationName },
        caller,
      ),
  }),
  routeForLongLivedCredentials({
    method: "PATCH",
    path: byId,
    summary: "Change a reserved tag key",
    ...bodyOf(reservedTagKeyNoun),
    success: [200, one(reservedTagKeyResource, "reservedTagKey")],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(ReservedTagKeyService).updateReservedTagKey(
        { ...body, id: params.reservedTagKeyId },
        caller,
      ),
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path: byId,
    summary: "Delete a reserved tag key",
    success: [204],
    failures: [404],
    handle: ({ client, params, caller }) =>
      client(ReservedTagKeyService).deleteReservedTagKey({ id: params.reservedTagKeyId }, caller),
  }),
];
