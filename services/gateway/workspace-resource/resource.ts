import type { WorkspaceResource } from "@statehouse/proto/statehouse/state/v1/workspace_resource";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalText, time } from "../jsonapi/shape.ts";
import { timestamp } from "../timestamps-resource.ts";

/** An instance of a resource that the workspace's current state manages. */
export const workspaceResourceResource = resource<WorkspaceResource, RequestContext>({
  type: "resources",
  id: ({ id }) => id,
  shape: {
    address: z.string(),
    name: z.string(),
    "created-at": time,
    "updated-at": time,
    module: z.string(),
    provider: z.string(),
    "provider-type": z.string(),
    "modified-by-state-version-id": z.string(),
    "name-index": optionalText,
  },
  attributes: (managed) => ({
    address: managed.address,
    name: managed.name,
    "created-at": timestamp(managed.createdAt),
    "updated-at": timestamp(managed.updatedAt),
    module: managed.module,
    provider: managed.provider,
    "provider-type": managed.type,
    "modified-by-state-version-id": managed.modifiedByStateVersionId,
    "name-index": managed.nameIndex ?? null,
  }),
});
