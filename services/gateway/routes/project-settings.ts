import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ProjectSettingsSchema } from "@statehouse/proto/statehouse/workspaces/v1/project";
import { z } from "zod";
import { documentBody, optional, section, typeOf } from "../jsonapi/body.ts";
import { given } from "../jsonapi/given.ts";
import type { Pointers } from "../jsonapi/pointers.ts";
import { defaultAgentPoolIn, nullableLinkage } from "./nullable-linkage.ts";
import { tagBindingLinkages } from "./tag-linkages.ts";

const bodyWith = <Name extends z.ZodType>(name: Name) =>
  documentBody(
    z.object({
      type: typeOf("projects"),
      attributes: section(
        z.object({
          name,
          description: optional(z.string()),
          "default-execution-mode": optional(z.string()),
          "default-agent-pool-id": optional(z.string()),
          "setting-overwrites": optional(
            z.object({ "default-execution-mode": optional(z.boolean()) }),
          ),
        }),
      ),
      relationships: section(
        z.object({
          "tag-bindings": tagBindingLinkages,
          "default-agent-pool": nullableLinkage("agent-pools"),
        }),
      ),
    }),
  );

/** The body of a create: a name must be given. */
export const createProjectBody = bodyWith(z.string());

/** The body of an update: what is left out keeps its value. */
export const updateProjectBody = bodyWith(optional(z.string()));

/** Where these bodies hold fields of the settings that are not the attribute of the same name. */
export const projectPointers = {
  defaultAgentPoolId: "/data/relationships/default-agent-pool",
  overwritesDefaultExecutionMode: "/data/attributes/setting-overwrites/default-execution-mode",
  tagBindings: "/data/relationships/tag-bindings/data",
  "tagBindings[]": "/data/relationships/tag-bindings/data/[]/attributes",
} satisfies Pointers;

/** The settings of a body, as the workspaces service takes them. */
export function projectSettings({
  data,
}: z.infer<typeof updateProjectBody>): MessageInitShape<typeof ProjectSettingsSchema> {
  const { attributes } = data;
  return given({
    defaultExecutionMode: attributes["default-execution-mode"],
    overwritesDefaultExecutionMode: attributes["setting-overwrites"]?.["default-execution-mode"],
    defaultAgentPoolId: defaultAgentPoolIn(data),
  });
}
