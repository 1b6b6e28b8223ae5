import type { StateVersionOutput } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { outputDetailedType, outputValue } from "./output-value.ts";

/** The outputs of a workspace's current state, with the type and attribute names of this list only. */
export const workspaceOutputResource = resource<StateVersionOutput, RequestContext>({
  type: "workspace-outputs",
  id: ({ id }) => id,
  attributes: (output) => ({
    name: output.name,
    sensitive: output.sensitive,
    "output-type": output.type,
    "detailed-type": outputDetailedType(output),
    value: outputValue(output),
  }),
  links: ({ id }) => ({ self: `/api/v2/state-version-outputs/${id}` }),
});
