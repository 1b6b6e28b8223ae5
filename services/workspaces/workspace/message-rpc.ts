import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  WorkspaceLockSchema,
  WorkspacePerformanceSchema,
  WorkspaceSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import type { WorkspacePlacementSchema } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { dataRetentionPolicyToProto } from "../data-retention-policy/rpc.ts";
import { average, type Performance } from "../performance/domain.ts";
import type { WorkspaceLock } from "../workspace-lock/domain.ts";
import type { Placement } from "../workspace-placement/domain.ts";
import type { WorkspaceDocument } from "./document-app.ts";

export const workspaceToProto = (
  workspace: WorkspaceDocument,
): MessageInitShape<typeof WorkspaceSchema> =>
  nullIsAbsent({
    ...workspace,
    createdAt: timestampFromDate(workspace.createdAt),
    updatedAt: timestampFromDate(workspace.updatedAt),
    latestChangeAt: workspace.latestChangeAt && timestampFromDate(workspace.latestChangeAt),
    autoDestroyAt: workspace.autoDestroyAt && timestampFromDate(workspace.autoDestroyAt),
    vcsRepo: workspace.vcsRepo && nullIsAbsent(workspace.vcsRepo),
    dataRetentionPolicy:
      workspace.dataRetentionPolicy && dataRetentionPolicyToProto(workspace.dataRetentionPolicy),
    performance: workspace.performance && performanceToProto(workspace.performance),
    lock: workspace.lock && lockToProto(workspace.lock),
  });

const performanceToProto = (
  sums: Performance,
): MessageInitShape<typeof WorkspacePerformanceSchema> => {
  const planDurationAverage = average(sums.planMs, sums.planRuns);
  const applyDurationAverage = average(sums.applyMs, sums.applyRuns);
  return {
    runs: sums.runs,
    runFailures: sums.runFailures,
    policyCheckFailures: sums.policyCheckFailures,
    ...(planDurationAverage === null ? {} : { planDurationAverage: BigInt(planDurationAverage) }),
    ...(applyDurationAverage === null
      ? {}
      : { applyDurationAverage: BigInt(applyDurationAverage) }),
  };
};

export const lockToProto = ({
  holder,
  reason,
  since,
  epoch,
}: WorkspaceLock): MessageInitShape<typeof WorkspaceLockSchema> => ({
  holderType: holder.type,
  holderId: holder.id,
  reason,
  since: timestampFromDate(since),
  epoch,
});

export const placementToProto = (
  placement: Placement,
): MessageInitShape<typeof WorkspacePlacementSchema> => placement;

/**
 * Removes null from the field types. At run time messages accept null as an absent field, although their types do not
 * allow it; removing the values would cost a copy of each object.
 */
const nullIsAbsent = <Fields extends object>(fields: Fields) =>
  fields as { [Name in keyof Fields]: Exclude<Fields[Name], null> };
