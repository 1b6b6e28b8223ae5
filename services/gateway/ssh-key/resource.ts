import type {
  CreateSshKeyRequestSchema,
  SshKey,
} from "@statehouse/proto/statehouse/workspaces/v1/ssh_key";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { attributesOf, type FieldsOf, type Noun } from "../jsonapi/noun.ts";
import { resource } from "../jsonapi/resource.ts";

/** The attributes that clients send for an SSH key. Documents never show the private key. */
export const sshKeyNoun: Noun<
  FieldsOf<typeof CreateSshKeyRequestSchema>,
  SshKey,
  RequestContext
> = {
  type: "ssh-keys",
  attributes: {
    name: { field: "name", in: z.string() },
    value: { field: "value", in: z.string(), writeOnly: true },
  },
};

export const sshKeyResource = resource<SshKey, RequestContext>({
  type: "ssh-keys",
  id: ({ id }) => id,
  attributes: attributesOf(sshKeyNoun),
  links: ({ id }) => ({ self: `/api/v2/ssh-keys/${id}` }),
});
