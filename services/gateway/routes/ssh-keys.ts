import { SshKeyService } from "@statehouse/proto/statehouse/workspaces/v1/ssh_key";
import { z } from "zod";
import { standing } from "../http/authentication.ts";
import { readPage } from "../http/paging.ts";
import { list, one } from "../http/rendering.ts";
import { type Route, route } from "../http/route.ts";
import { documentBody, optional, section, typeOf } from "../jsonapi/body.ts";
import { given } from "../jsonapi/given.ts";
import { sshKeyResource } from "../resources/ssh-keys.ts";
import { workspaceResource } from "../resources/workspaces.ts";

const bodyWith = <Text extends z.ZodType>(text: Text) =>
  documentBody(
    z.object({
      type: typeOf("ssh-keys"),
      attributes: section(z.object({ name: text, value: text })),
    }),
  );

const createBody = bodyWith(z.string());
const updateBody = bodyWith(optional(z.string()));

/** The id is an attribute here; null, and only null, takes the key away. */
const assignBody = documentBody(
  z.object({
    type: typeOf("workspaces"),
    attributes: section(z.object({ id: z.string().min(1).nullable() })),
  }),
);

const ofOrganization = "/organizations/:organizationName/ssh-keys";
const byId = "/ssh-keys/:sshKeyId";

export const sshKeyRoutes: readonly Route[] = [
  route({
    method: "GET",
    path: ofOrganization,
    summary: "List an organization's SSH keys",
    success: [200, list(sshKeyResource)],
    failures: [400, 404],
    credentials: standing,
    handle: async ({ client, params, query, caller }) => {
      const page = readPage(query);
      const { organizationName } = params;
      const request = { organizationName, pageNumber: page.number, pageSize: page.size };
      const { sshKeys, totalCount } = await client(SshKeyService).listSshKeys(request, caller);
      return { items: sshKeys, page, totalCount };
    },
  }),
  route({
    method: "POST",
    path: ofOrganization,
    summary: "Create an SSH key",
    body: createBody,
    success: [201, one(sshKeyResource)],
    failures: [404, 422],
    credentials: standing,
    handle: async ({ client, params, body, caller }) => {
      const wanted = { organizationName: params.organizationName, ...body.data.attributes };
      return (await client(SshKeyService).createSshKey(wanted, caller)).sshKey;
    },
  }),
  route({
    method: "GET",
    path: byId,
    summary: "Show an SSH key",
    success: [200, one(sshKeyResource)],
    failures: [404],
    credentials: standing,
    handle: async ({ client, params, caller }) =>
      (await client(SshKeyService).getSshKey({ id: params.sshKeyId }, caller)).sshKey,
  }),
  route({
    method: "PATCH",
    path: byId,
    summary: "Update an SSH key",
    body: updateBody,
    success: [200, one(sshKeyResource)],
    failures: [404, 422],
    credentials: standing,
    handle: async ({ client, params, body, caller }) => {
      const wanted = { id: params.sshKeyId, ...given(body.data.attributes) };
      return (await client(SshKeyService).updateSshKey(wanted, caller)).sshKey;
    },
  }),
  route({
    method: "DELETE",
    path: byId,
    summary: "Delete an SSH key, assigned or not",
    success: [204],
    failures: [404],
    credentials: standing,
    handle: ({ client, params, caller }) =>
      client(SshKeyService).deleteSshKey({ id: params.sshKeyId }, caller),
  }),
  route({
    method: "PATCH",
    path: "/workspaces/:workspaceId/relationships/ssh-key",
    summary: "Assign an SSH key to a workspace, or take it away",
    body: assignBody,
    success: [200, one(workspaceResource)],
    failures: [404, 422],
    credentials: standing,
    handle: async ({ client, params, body, caller }) => {
      const sshKeyId = body.data.attributes.id ?? "";
      const wanted = { workspaceId: params.workspaceId, sshKeyId };
      return (await client(SshKeyService).assignSshKey(wanted, caller)).workspace;
    },
  }),
];
