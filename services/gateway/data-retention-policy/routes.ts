import type { MessageInitShape } from "@bufbuild/protobuf";
import type { DataRetentionTargetSchema } from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import { DataRetentionPolicyService } from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import { z } from "zod";
import { oneOf } from "../http/rendering.ts";
import { type ParamsOf, type Route, route } from "../http/route.ts";
import { documentBody, optional, section } from "../jsonapi/body.ts";
import { dataRetentionResourceOf, dataRetentionResources, dataRetentionTypes } from "./resource.ts";

const edition = "data-retention-policies";

const kinds = {
  [dataRetentionTypes["delete-older"]]: "delete-older",
  [dataRetentionTypes["dont-delete"]]: "dont-delete",
} as const;

const days = z
  .int()
  .min(0)
  .max(2 ** 31 - 1);

/** The JSON:API type of the document determines the kind of policy. */
const body = documentBody(
  z
    .object({
      type: z.enum([dataRetentionTypes["delete-older"], dataRetentionTypes["dont-delete"]]),
      attributes: section(
        z.object({
          "delete-older-than-n-days": optional(days),
          "state-versions-delete-after-n-days": days.nullish(),
        }),
      ),
    })
    .transform(({ type, attributes }) => ({
      kind: kinds[type],
      deleteOlderThanNDays: attributes["delete-older-than-n-days"],
      stateVersionsDeleteAfterNDays: attributes["state-versions-delete-after-n-days"] ?? undefined,
      withoutStateVersionDays: attributes["state-versions-delete-after-n-days"] === null,
    })),
);

const policy = oneOf(dataRetentionResources, dataRetentionResourceOf, "policy");

type Target = MessageInitShape<typeof DataRetentionTargetSchema>;

/** Declares the four routes for the retention policy of one kind of target: workspace, organization or installation. */
const routesAt = <Path extends string>(
  path: Path,
  whose: string,
  targetOf: (params: ParamsOf<Path>) => Target,
): Route[] => {
  const set = (method: "POST" | "PATCH") =>
    route({
      method,
      path,
      summary: `Set ${method === "POST" ? "" : "or change "}the data retention policy of ${whose}`,
      body,
      pointers: { kind: "/data/type" },
      success: [200, policy],
      failures: [404, 422],
      edition,
      handle: ({ client, params, body, caller }) =>
        client(DataRetentionPolicyService).setDataRetentionPolicy(
          { target: targetOf(params), ...body.data },
          caller,
        ),
    });
  return [
    route({
      method: "GET",
      path,
      summary: `Show the data retention policy in effect for ${whose}`,
      success: [200, policy],
      failures: [404],
      edition,
      handle: ({ client, params, caller }) =>
        client(DataRetentionPolicyService).getDataRetentionPolicy(
          { target: targetOf(params) },
          caller,
        ),
    }),
    set("POST"),
    set("PATCH"),
    route({
      method: "DELETE",
      path,
      summary: `Delete the data retention policy of ${whose}`,
      success: [204],
      failures: [404],
      edition,
      handle: ({ client, params, caller }) =>
        client(DataRetentionPolicyService).deleteDataRetentionPolicy(
          { target: targetOf(params) },
          caller,
        ),
    }),
  ];
};

const tail = "relationships/data-retention-policy";

export const dataRetentionPolicyRoutes: readonly Route[] = [
  ...routesAt(`/workspaces/:workspaceId/${tail}`, "a workspace", ({ workspaceId }) => ({
    of: { case: "workspaceId", value: workspaceId },
  })),
  ...routesAt(
    `/organizations/:organizationName/${tail}`,
    "an organization",
    ({ organizationName }) => ({ of: { case: "organizationName", value: organizationName } }),
  ),
  ...routesAt(`/admin/general-settings/${tail}`, "the installation", () => ({
    of: { case: "site", value: true },
  })),
];
