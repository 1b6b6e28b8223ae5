import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  WorkspaceLockSchema,
  WorkspacePerformanceSchema,
  WorkspaceSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import { dataRetentionPolicyToProto } from "../data-retention-policy/rpc.ts";
import { nullIsAbsent } from "../message-rpc.ts";
import { average, type Performance } from "../performance/domain.ts";
import type { WorkspaceLock } from "../workspace-lock/domain.ts";
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
): MessageInitShape<typeof WorkspacePerformanceSchema> =>
  nullIsAbsent({
    ...sums,
    planDurationAverage: average(sums.planMs, sums.planRuns),
    applyDurationAverage: average(sums.applyMs, sums.applyRuns),
  });

export const lockToProto = ({
  holder,
  ...lock
}: WorkspaceLock): MessageInitShape<typeof WorkspaceLockSchema> => ({
  ...lock,
  holderType: holder.type,
  holderId: holder.id,
  since: timestampFromDate(lock.since),
});
