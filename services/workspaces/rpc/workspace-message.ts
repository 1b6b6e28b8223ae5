import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  VcsRepoSchema,
  WorkspaceLockSchema,
  WorkspacePerformanceSchema,
  WorkspaceSchema,
} from "@statehouse/proto/statehouse/workspaces/v1/workspace";
import type { WorkspacePlacementSchema } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import type { Shown } from "../app/shown.ts";
import { resolveEngineVersion } from "../domain/engine-version.ts";
import { average, type Performance } from "../domain/performance.ts";
import type { VcsRepo } from "../domain/vcs-repo.ts";
import type { WorkspaceLock } from "../domain/workspace-lock.ts";
import type { Placement } from "../domain/workspace-placement.ts";
import type { WorkspaceView } from "../domain/workspace-view.ts";
import { dataRetentionPolicyToProto } from "./data-retention-policy.ts";

/** Makes messages of workspaces, each with the known release that its engine version means. */
export const workspaceMessages =
  (engineReleases: readonly string[]) =>
  (workspace: Shown<WorkspaceView>): MessageInitShape<typeof WorkspaceSchema> => {
    const message = workspaceToProto(workspace);
    const resolved = resolveEngineVersion(workspace.engineVersion, engineReleases);
    return resolved === undefined ? message : { ...message, resolvedEngineVersion: resolved };
  };

function workspaceToProto(
  workspace: Shown<WorkspaceView>,
): MessageInitShape<typeof WorkspaceSchema> {
  const { description, sourceName, sourceUrl, workingDirectory, ...others } = workspace;
  const { currentStateVersionId, agentPoolId, sshKeyId, ...owned } = others;
  const { autoDestroyActivityDuration, ...given } = owned;
  const { lock, createdAt, updatedAt, latestChangeAt, performance, ...rest } = given;
  const { currentRunId, latestRunId, currentConfigurationVersionId, ...more } = rest;
  const { autoDestroyAt, vcsRepo, dataRetentionPolicy, ...same } = more;
  return {
    ...same,
    ...present({ description, sourceName, sourceUrl, workingDirectory }),
    ...present({ currentStateVersionId, agentPoolId, sshKeyId, autoDestroyActivityDuration }),
    ...(autoDestroyAt ? { autoDestroyAt: timestampFromDate(autoDestroyAt) } : {}),
    ...(vcsRepo ? { vcsRepo: vcsRepoToProto(vcsRepo) } : {}),
    ...present({ currentRunId, latestRunId, currentConfigurationVersionId }),
    ...(dataRetentionPolicy
      ? { dataRetentionPolicy: dataRetentionPolicyToProto(dataRetentionPolicy) }
      : {}),
    ...(performance ? { performance: performanceToProto(performance) } : {}),
    ...(lock ? { lock: lockToProto(lock) } : {}),
    ...(latestChangeAt ? { latestChangeAt: timestampFromDate(latestChangeAt) } : {}),
    createdAt: timestampFromDate(createdAt),
    updatedAt: timestampFromDate(updatedAt),
  };
}

const vcsRepoToProto = (vcsRepo: VcsRepo): MessageInitShape<typeof VcsRepoSchema> => {
  const { oauthTokenId, appInstallationId, tagsRegex, ...same } = vcsRepo;
  return { ...same, ...present({ oauthTokenId, appInstallationId, tagsRegex }) };
};

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

/** Without what is null, as optional fields of messages want it. */
const present = <Texts extends Record<string, string | null>>(texts: Texts) =>
  Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== null)) as {
    [Name in keyof Texts]?: string;
  };
