import { fromJson, type JsonValue, type MessageInitShape, toJson } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { quoted } from "@statehouse/errors";
import { idsIn, isId } from "@statehouse/postgres/ids";
import {
  type RunReport as RunMessage,
  RunReportSchema,
} from "@statehouse/proto/statehouse/runs/v1/run_report";
import type { RunSchema, RunService } from "@statehouse/proto/statehouse/workspaces/v1/run";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { reportInvalid } from "../errors-domain.ts";
import { runId, workspaceId } from "../ids-rpc.ts";
import { batchGetRuns, getRunPlacement, getRunWorkspace, listEndedRuns } from "./app.ts";
import { isRunStatus, type Run, type RunView, runStatuses } from "./domain.ts";

export const runService = (app: App): ServiceImpl<typeof RunService> => ({
  batchGetRuns: async ({ ids }, { caller }) => {
    const runs = await batchGetRuns(app, caller, idsIn("run", ids));
    return { runs: runs.map(runToProto) };
  },
  getRunPlacement: async ({ runId: run, workspaceId: id }) => {
    const of = { runId: runId(run), workspaceId: workspaceId(id) };
    const { organizationId, runner } = await getRunPlacement(app, of);
    return { organizationId, runner: runner ?? "" };
  },
  getRunWorkspace: async ({ runId }) => ({
    workspaceId: (await getRunWorkspace(app, runId)) ?? "",
  }),
  listEndedRuns: async ({ runIds }) => ({ runIds: await listEndedRuns(app, idsIn("run", runIds)) }),
});

export const runToProto = (run: RunView): MessageInitShape<typeof RunSchema> => ({
  id: run.id,
  workspaceId: run.workspaceId,
  report: fromJson(RunReportSchema, run.report as JsonValue, { ignoreUnknownFields: true }),
  commitSha: run.commitSha ?? "",
  commitUrl: run.commitUrl ?? "",
});

/** Creates a run from a runner's report. Throws `invalid` if the report is invalid. */
export function runFromProto(message: RunMessage, runner: string): Run {
  const { runId: id, status, createdAt, plan, apply } = message;
  if (!isId("run", id)) throw reportInvalid("report.runId", idProblem("Run ID", "run"));
  if (!isRunStatus(status)) {
    const expected = Object.keys(runStatuses).join(", ");
    const detail = `Status ${quoted(status)} is unknown; expected one of ${expected}`;
    throw reportInvalid("report.status", detail);
  }
  if (!createdAt) throw reportInvalid("report.createdAt", "Created at is missing");
  return {
    id,
    runner,
    workspaceId: workspaceId(message.workspaceId),
    revision: revisionOf(message),
    status,
    createdAt: timestampDate(createdAt),
    planOnly: message.planOnly,
    isDestroy: message.isDestroy,
    configurationVersionId: message.configurationVersionId || null,
    policyCheckFailed: message.policyCheckFailed,
    planMs: durationOf("plan", plan),
    applyMs: durationOf("apply", apply),
    report: jsonOf(toJson(RunReportSchema, message)),
  };
}

export const idProblem = (title: string, prefix: string): string =>
  `${title} is invalid; expected ${prefix}- and 16 letters and digits`;

function durationOf(
  name: string,
  phase: { durationMs?: bigint | undefined } | undefined,
): number | null {
  if (phase?.durationMs === undefined) return null;
  if (phase.durationMs > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw reportInvalid(`report.${name}.durationMs`, "Duration is too long");
  }
  return Number(phase.durationMs);
}

/**
 * Returns the revision of a report. Throws `invalid` if it is too large to be read from PostgreSQL without a loss of
 * precision.
 */
export function revisionOf({ revision }: { revision: bigint }): bigint {
  if (revision > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw reportInvalid(
      "report.revision",
      `Revision is too large (maximum is ${Number.MAX_SAFE_INTEGER})`,
    );
  }
  return revision;
}

/** Maximum size of a stored report, as JSON text. */
export const MAX_REPORT_BYTES = 1_048_576;

/**
 * Returns the JSON in which a report is stored. Throws `invalid` if it is too long or contains U+0000, which PostgreSQL
 * cannot store.
 */
export function jsonOf(report: JsonValue): object {
  if (typeof report !== "object" || report === null)
    throw reportInvalid("report", "Report is invalid");
  const text = JSON.stringify(report);
  if (text.includes("\\u0000")) {
    throw reportInvalid("report", "Report contains the character U+0000, which cannot be stored");
  }
  if (Buffer.byteLength(text) > MAX_REPORT_BYTES) {
    throw reportInvalid("report", `Report is too long (maximum is ${MAX_REPORT_BYTES} bytes)`);
  }
  return report;
}
