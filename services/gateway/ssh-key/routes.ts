import { SshKeyService } from "@statehouse/proto/statehouse/workspaces/v1/ssh_key";
import { z } from "zod";
import { page } from "../http/paging.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, routeForLongLivedCredentials } from "../http/route.ts";
import { documentBody, section, typeOf } from "../jsonapi/body.ts";
import { bodyOf } from "../jsonapi/noun.ts";
import { workspaceResource } from "../workspace/resource.ts";
import { sshKeyNoun, sshKeyResource } from "./resource.ts";

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
    success: [200, list(sshKeyResource, "sshKeys")],
    failures: [400, 404],
    handle: ({ client, params, query: { page }, caller }) =>
      client(SshKeyService).listSshKeys({ ...params, ...page }, caller),
  }),
  routeForLongLivedCredentials({
    method: "POST",
    path: ofOrganization,
    summary: "Create an SSH key",
    ...bodyOf(sshKeyNoun, ["name", "value"]),
    success: [201, one(sshKeyResource, "sshKey")],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(SshKeyService).createSshKey(
        { ...body, organizationName: params.organizationName },
        caller,
      ),
  }),
  routeForLongLivedCredentials({
    method: "GET",
    path: byId,
    summary: "Show an SSH key",
    success: [200, one(sshKeyResource, "sshKey")],
    failures: [404],
    handle: ({ client, params, caller }) =>
      client(SshKeyService).getSshKey({ id: params.sshKeyId }, caller),
  }),
  routeForLongLivedCredentials({
    method: "PATCH",
    path: byId,
    summary: "Update an SSH key",
    ...bodyOf(sshKeyNoun),
    success: [200, one(sshKeyResource, "sshKey")],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) =>
      client(SshKeyService).updateSshKey({ ...body, id: params.sshKeyId }, caller),
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
    success: [200, one(workspaceResource, "workspace")],
    failures: [404, 422],
    handle: ({ client, params, body, caller }) => {
      const sshKeyId = body.data.attributes.id ?? "";
      return client(SshKeyService).assignSshKey(
        { workspaceId: params.workspaceId, sshKeyId },
        caller,
      );
    },
  }),
];
