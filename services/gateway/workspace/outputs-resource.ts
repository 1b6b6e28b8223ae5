import type { StateVersionOutput } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { anyValue } from "../jsonapi/shape.ts";
import { outputDetailedType, outputValue } from "../state-version-output/value-resource.ts";

/**
 * An output of a workspace's current state. Only the outputs that documents of workspaces include have this JSON:API
 * type and these attribute names.
 */
export const workspaceOutputResource = resource<StateVersionOutput, RequestContext>({
  type: "workspace-outputs",
  id: ({ id }) => id,
  attributes: {
    name: [z.string(), ({ name }) => name],
    sensitive: [z.boolean(), ({ sensitive }) => sensitive],
    "output-type": [z.string(), ({ type }) => type],
    "detailed-type": [anyValue, (output) => outputDetailedType(output)],
    value: [anyValue, (output) => outputValue(output)],
  },
  links: ({ id }) => ({ self: `/api/v2/state-version-outputs/${id}` }),
});
