import { AppError } from "@statehouse/errors";
import type { RunReportService } from "@statehouse/proto/statehouse/runs/v1/run_report";
import type { ServiceImpl } from "@statehouse/rpc";
import { counterFromZero } from "@statehouse/runtime";
import type { App } from "../app.ts";
import { runnerOf } from "../caller-app.ts";
import { reportConfigurationVersion } from "../configuration-version/app.ts";
import { configurationVersionFromProto } from "../configuration-version/rpc.ts";
import { reportInvalid } from "../errors-domain.ts";
import { runFromProto } from "../run/rpc.ts";
import { reportWorkspaceReadme } from "../workspace-readme/app.ts";
import { readmeFromProto } from "../workspace-readme/rpc.ts";
import { reportRun } from "./app.ts";

/** Stores the reports of runners. If a report cannot be stored, the runner receives the error in the response. */
export function runReportService(app: App): ServiceImpl<typeof RunReportService> {
  const refused = counterFromZero("statehouse/workspaces", "statehouse_run_reports_refused_total", {
    description: "Reports of runners that were refused, by reason",
    series: ["invalid", "reported_by_other", "reported_elsewhere"].map((reason) => ({ reason })),
  });
  const counted = async (store: () => Promise<void>) => {
    try {
      await store();
      return {};
    } catch (error) {
      if (error instanceof AppError) refused.add(1, { reason: error.reason });
      throw error;
    }
  };
  return {
    reportRun: ({ report }, { caller }) =>
      counted(async () => reportRun(app, runFromProto(required(report), runnerOf(caller)))),
    reportConfigurationVersion: ({ report }, { caller }) =>
      counted(async () =>
        reportConfigurationVersion(
          app,
          configurationVersionFromProto(required(report), runnerOf(caller)),
        ),
      ),
    reportReadme: ({ report }) =>
      counted(async () => {
        const { readme, revision } = readmeFromProto(required(report));
        await reportWorkspaceReadme(app, readme, revision);
      }),
  };
}

function required<Report>(report: Report | undefined): Report {
  if (!report) throw reportInvalid("report", "Report is missing");
  return report;
}
