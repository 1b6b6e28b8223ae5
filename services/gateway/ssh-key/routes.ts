import { SshKeyService } from "@statehouse/proto/statehouse/workspaces/v1/ssh_key";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { documentBody, section, typeOf } from "../jsonapi/body.ts";
import { bodyOf } from "../jsonapi/noun.ts";
import { workspaceResource } from "../workspace/resource.ts";
import { sshKeyNoun, sshKeyResource } from "./resource.ts";

const createBody = bodyOf(sshKeyNoun, ["name", "value"]);
const updateBody = bodyOf(sshKeyNoun);

/** Clients send the id of the key as an attribute. Only null removes the key from the workspace. */
const assignBody = documentBody(
  z.object({
    type: typeOf("workspaces"),
    attributes: section(z.object({ id: z.string().min(1).nullable() })),
  }),
);

const ofOrganization = "/organizations/:organizationName/ssh-keys";
const byId = "/ssh-keys/:sshKeyId";

export const sshKeyRoutes: readonly Route[] = [
  routeForLongLivedCredentials({
    method: "GET",
    path: ofOrganization,
    summary: "List an organization's SSH keys",
    query: { page },
    success: [200, list(sshKeyResource)],
    failures: [400, 404],
    handle: async ({ client, params, query, caller }) => {
      const { page } = query;
      const { organizationName } = params;
      const request = { organizationName, pageNumber: page.number, pageSize: page.size };
      const { sshKeys, totalCount } = await client(SshKeyService).listSshKeys(request, caller);
      return { items: sshKeys, page, totalCount };
    },
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: ofOrganization,
    summary: "Create an SSH key",
    ...createBody,
    success: [201, one(sshKeyResource)],
    failures: [404, 422],
    handle: async ({ client, params, body, caller }) => {
      const input = { ...body, organizationName: params.organizationName };
      return (await client(SshKeyService).createSshKey(input, caller)).sshKey;
    },
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path: byId,
    summary: "Show an SSH key",
    success: [200, one(sshKeyResource)],
    failures: [404],
    handle: async ({ client, params, caller }) =>
      (await client(SshKeyService).getSshKey({ id: params.sshKeyId }, caller)).sshKey,
  }),
  routeForLongLivedCredentials({
    method: "PATCH",
    path: byId,
    summary: "Update an SSH key",
    ...updateBody,
    success: [200, one(sshKeyResource)],
    failures: [404, 422],
    handle: async ({ client, params, body, caller }) => {
      const input = { ...body, id: params.sshKeyId };
      return (await client(SshKeyService).updateSshKey(input, caller)).sshKey;
    },
  }),
  routeForLongLivedCredentials({
    method: "DELETE",
    path: byId,
    summary: "Delete an SSH key, assigned or not",
    success: [204],
    failures: [404],
    handle: ({ client, params, caller }) =>
      client(SshKeyService).deleteSshKey({ id: params.sshKeyId }, caller),
  }),
  routeForLongLivedCredentials({
    method: "PATCH",
    path: "/workspaces/:workspaceId/relationships/ssh-key",
    summary: "Assign an SSH key to a workspace, or remove the assigned key",
    body: assignBody,
    success: [200, one(workspaceResource)],
    failures: [404, 422],
    handle: async ({ client, params, body, caller }) => {
      const sshKeyId = body.data.attributes.id ?? "";
      const input = { workspaceId: params.workspaceId, sshKeyId };
      return (await client(SshKeyService).assignSshKey(input, caller)).workspace;
    },
  }),
];
