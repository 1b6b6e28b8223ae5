import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type DescMessage, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ConfigurationVersionReportSchema,
  type ReadmeReportSchema,
  type RunReportSchema,
  RunReportService,
} from "@statehouse/proto/statehouse/runs/v1/run_report";
import type { CallOptions } from "./assertion.ts";
import type { Channel } from "./channel.ts";
import { createClient } from "./client.ts";
import { inspectMessages } from "./in-process-channel.ts";

type Report<Schema extends DescMessage> = Omit<MessageInitShape<Schema>, "$typeName">;

/** An external runner, which executes runs outside Statehouse and reports them. */
export interface Runner {
  /** Reports a run and returns its id. */
  run(report: Report<typeof RunReportSchema>): Promise<string>;
  /** Reports a configuration version and returns its id. */
  configurationVersion(report: Report<typeof ConfigurationVersionReportSchema>): Promise<string>;
  readme(report: Report<typeof ReadmeReportSchema>): Promise<void>;
}

/** Returns the time that is `seconds` whole seconds after a fixed date. */
export const timestampAt = (seconds: number): Timestamp =>
  timestampFromDate(new Date(Date.UTC(2026, 0, 1) + seconds * 1000));

const newId = (prefix: string) => `${prefix}-${randomBytes(8).toString("hex")}`;

/** Creates a runner that reports to the workspaces service over the channel `workspaces`, as docs/runs.md describes. */
export function createRunner(workspaces: Channel, identity: CallOptions): Runner {
  const reports = createClient(RunReportService, workspaces, identity);
  return {
    async run(report) {
      const runId = report.runId ?? newId("run");
      const usual = { status: "pending", revision: 1n, createdAt: timestampAt(0) };
      await reports.reportRun({ report: { ...usual, ...report, runId } });
      return runId;
    },
    async configurationVersion(report) {
      const configurationVersionId = report.configurationVersionId ?? newId("cv");
      const usual = { status: "uploaded", revision: 1n, createdAt: timestampAt(0) };
      await reports.reportConfigurationVersion({
        report: { ...usual, ...report, configurationVersionId },
      });
      return configurationVersionId;
    },
    async readme(report) {
      await reports.reportReadme({ report: { revision: 1n, ...report } });
    },
  };
}

/**
 * Examines every message that services of one process pass to each other from now on. Throws if gRPC would transfer it
 * with other values. Freezes it, so that changing it throws as well.
 */
export function checkPassedMessages(): void {
  inspectMessages((desc, message) => {
    const transferred = fromBinary(desc, toBinary(desc, message));
    if (!isDeepStrictEqual(transferred, message)) {
      throw new Error(`gRPC would change a message ${desc.typeName}`);
    }
    freeze(message);
  });
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const member of Object.values(value)) freeze(member);
}
