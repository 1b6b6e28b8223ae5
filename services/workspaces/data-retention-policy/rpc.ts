import type { MessageInitShape } from "@bufbuild/protobuf";
import { idsIn } from "@statehouse/postgres/ids";
import type {
  DataRetentionPolicySchema,
  DataRetentionPolicyService,
  DataRetentionTarget as TargetMessage,
} from "@statehouse/proto/statehouse/workspaces/v1/data_retention_policy";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { workspaceId } from "../ids-rpc.ts";
import { nullIsAbsent } from "../message-rpc.ts";
import {
  batchGetRetention,
  type DataRetentionTarget,
  deleteDataRetentionPolicy,
  getDataRetentionPolicy,
  setDataRetentionPolicy,
} from "./app.ts";
import {
  type DataRetentionPolicyView,
  dataRetentionPolicyNotFound,
  type OwnedDataRetentionPolicy,
} from "./domain.ts";

export const dataRetentionPolicyService = (
  app: App,
): ServiceImpl<typeof DataRetentionPolicyService> => ({
  getDataRetentionPolicy: async ({ target }, { caller }) => ({
    policy: dataRetentionPolicyToProto(await getDataRetentionPolicy(app, caller, targetIn(target))),
  }),
  setDataRetentionPolicy: async ({ target, ...input }, { caller }) => ({
    policy: dataRetentionPolicyToProto(
      await setDataRetentionPolicy(app, caller, targetIn(target), {
        kind: input.kind,
        deleteOlderThanNDays: input.deleteOlderThanNDays,
        stateVersionsDeleteAfterNDays: input.withoutStateVersionDays
          ? null
          : input.stateVersionsDeleteAfterNDays,
      }),
    ),
  }),
  deleteDataRetentionPolicy: async ({ target }, { caller }) => {
    await deleteDataRetentionPolicy(app, caller, targetIn(target));
    return {};
  },
  batchGetRetention: async ({ workspaceIds }) => {
    const { retentions, version } = await batchGetRetention(app, idsIn("ws", workspaceIds));
    return { version, retentions: retentions.map(nullIsAbsent) };
  },
});

function targetIn(message: TargetMessage | undefined): DataRetentionTarget {
  const of = message?.of;
  if (of?.case === "workspaceId") return { workspaceId: workspaceId(of.value) };
  if (of?.case === "organizationName") return { organizationName: of.value };
  if (of?.case === "site") return "site";
  throw dataRetentionPolicyNotFound();
}

/**
 * Converts a policy to its message. Also used in messages of workspaces and organizations, which contain their policy.
 */
export const dataRetentionPolicyToProto = (
  policy: DataRetentionPolicyView | OwnedDataRetentionPolicy,
): MessageInitShape<typeof DataRetentionPolicySchema> => nullIsAbsent(policy);
