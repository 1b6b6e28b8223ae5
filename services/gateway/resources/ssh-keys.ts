import type { SshKey } from "@statehouse/proto/statehouse/workspaces/v1/ssh_key";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";

/** What the key is, nobody is told. */
export const sshKeyResource = resource<SshKey, RequestContext>({
  type: "ssh-keys",
  id: ({ id }) => id,
  attributes: ({ name }) => ({ name }),
  links: ({ id }) => ({ self: `/api/v2/ssh-keys/${id}` }),
});
