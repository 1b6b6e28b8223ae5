import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { isId } from "@statehouse/postgres/ids";
import {
  type RunReported as RunMessage,
  RunReportedSchema,
} from "@statehouse/proto/statehouse/runs/v1/events";
import type { RunService } from "@statehouse/proto/statehouse/workspaces/v1/run";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { batchGetRuns, getRunPlacement } from "../app/run.ts";
import { reportInvalid } from "../domain/errors.ts";
import { isRunStatus, type Run } from "../domain/run.ts";
import { idsIn, runId, workspaceId } from "./ids.ts";

export const runService = (app: App): ServiceImpl<typeof RunService> => ({
  batchGetRuns: async ({ ids }, { caller }) => {
    const runs = await batchGetRuns(app, caller, idsIn("run", ids));
    return {
      runs: runs.map((run) => ({
        id: run.id,
        workspaceId: run.workspaceId,
        report: fromJson(RunReportedSchema, run.report as JsonValue, { ignoreUnknownFields: true }),
        commitSha: run.commitSha ?? "",
        commitUrl: run.commitUrl ?? "",
      })),
    };
  },
  getRunPlacement: async ({ runId: run, workspaceId: id }) => ({
    organizationId: await getRunPlacement(app, { runId: runId(run), workspaceId: workspaceId(id) }),
  }),
});

/** Converts a run from its report. Throws `invalid` if the report is invalid. */
export function runFromProto(message: RunMessage): Run {
  const { runId: id, status, createdAt, plan, apply } = message;
  if (!isId("run", id)) throw reportInvalid("run-id");
  if (!isRunStatus(status)) throw reportInvalid("status");
  if (!createdAt) throw reportInvalid("created-at");
  return {
    id,
    workspaceId: workspaceId(message.workspaceId),
    revision: message.revision,
    status,
    createdAt: timestampDate(createdAt),
    planOnly: message.planOnly,
    isDestroy: message.isDestroy,
    configurationVersionId: message.configurationVersionId || null,
    policyCheckFailed: message.policyCheckFailed,
    planMs: durationOf(plan),
    applyMs: durationOf(apply),
    report: jsonOf(toJson(RunReportedSchema, message)),
  };
}

function durationOf(phase: { durationMs?: bigint | undefined } | undefined): number | null {
  if (phase?.durationMs === undefined) return null;
  if (phase.durationMs > BigInt(Number.MAX_SAFE_INTEGER)) throw reportInvalid("duration");
  return Number(phase.durationMs);
}

/** The form in which a report is stored. Throws `invalid` for text that PostgreSQL cannot store. */
export function jsonOf(report: JsonValue): object {
  if (typeof report !== "object" || report === null) throw reportInvalid("report");
  if (JSON.stringify(report).includes("\\u0000")) throw reportInvalid("text");
  return report;
}
