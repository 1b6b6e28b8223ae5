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
  shape: {
    name: z.string(),
    sensitive: z.boolean(),
    "output-type": z.string(),
    "detailed-type": anyValue,
    value: anyValue,
  },
  attributes: (output) => ({
    name: output.name,
    sensitive: output.sensitive,
    "output-type": output.type,
    "detailed-type": outputDetailedType(output),
    value: outputValue(output),
  }),
  links: ({ id }) => ({ self: `/api/v2/state-version-outputs/${id}` }),
});
