import type { StateVersionOutput } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { anyValue } from "../jsonapi/shape.ts";
import { outputDetailedType, outputValue } from "./value-resource.ts";

export const stateVersionOutputResource = resource<StateVersionOutput, RequestContext>({
  type: "state-version-outputs",
  id: ({ id }) => id,
  shape: {
    name: z.string(),
    sensitive: z.boolean(),
    type: z.string(),
    "detailed-type": anyValue,
    value: anyValue,
  },
  attributes: (output) => ({
    name: output.name,
    sensitive: output.sensitive,
    type: output.type,
    "detailed-type": outputDetailedType(output),
    value: outputValue(output),
  }),
  hasSecret: ({ sensitive, valueJson }) => sensitive && Boolean(valueJson),
  links: ({ id }) => ({ self: `/api/v2/state-version-outputs/${id}` }),
});
