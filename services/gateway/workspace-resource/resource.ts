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
  attributes: {
    address: [z.string(), ({ address }) => address],
    name: [z.string(), ({ name }) => name],
    "created-at": [time, ({ createdAt }) => timestamp(createdAt)],
    "updated-at": [time, ({ updatedAt }) => timestamp(updatedAt)],
    module: [z.string(), ({ module }) => module],
    provider: [z.string(), ({ provider }) => provider],
    "provider-type": [z.string(), ({ type }) => type],
    "modified-by-state-version-id": [
      z.string(),
      ({ modifiedByStateVersionId }) => modifiedByStateVersionId,
    ],
    "name-index": [optionalText, ({ nameIndex }) => nameIndex ?? null],
  },
});
