import type { StateVersionOutput } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { z } from "zod";
import type { RequestContext } from "../http/route.ts";
import { resource } from "../jsonapi/resource.ts";
import { anyValue } from "../jsonapi/shape.ts";
import { outputDetailedType, outputValue } from "./value-resource.ts";

export const stateVersionOutputResource = resource<StateVersionOutput, RequestContext>({
  type: "state-version-outputs",
  id: ({ id }) => id,
  attributes: {
    name: [z.string(), ({ name }) => name],
    sensitive: [z.boolean(), ({ sensitive }) => sensitive],
    type: [z.string(), ({ type }) => type],
    "detailed-type": [anyValue, (output) => outputDetailedType(output)],
    value: [anyValue, (output) => outputValue(output)],
  },
  hasSecret: ({ sensitive, valueJson }) => sensitive && Boolean(valueJson),
  links: ({ id }) => ({ self: `/api/v2/state-version-outputs/${id}` }),
});
