import type { RunReport } from "@statehouse/proto/statehouse/runs/v1/run_report";
import type { Run } from "@statehouse/proto/statehouse/workspaces/v1/run";
import { z } from "zod";
import { configurationVersionResource } from "../configuration-version/resource.ts";
import type { RequestContext } from "../http/route.ts";
import { embedded, toOneOf } from "../jsonapi/relationship.ts";
import { resource } from "../jsonapi/resource.ts";
import { optionalText, optionalTime } from "../jsonapi/shape.ts";
import { planResource } from "../plan/resource.ts";
import { reported, statusTimes, statusTimestamps } from "../reported-text-resource.ts";
import { timestamp } from "../timestamps-resource.ts";
import { userResource } from "../user/resource.ts";

const reportOf = ({ id, report }: Run): RunReport => {
  if (!report) throw new Error(`the response contains no report for ${id}`);
  return report;
};

/** All false: Statehouse executes no runs, so no action on a run is allowed. */
const actions = {
  "is-cancelable": false,
  "is-confirmable": false,
  "is-discardable": false,
  "is-force-cancelable": false,
} as const;
const permissions = {
  "can-apply": false,
  "can-cancel": false,
  "can-comment": false,
  "can-discard": false,
  "can-force-cancel": false,
  "can-force-execute": false,
  "can-override-policy-check": false,
} as const;

const flags = (values: Readonly<Record<string, boolean>>) =>
  z.object(Object.fromEntries(Object.keys(values).map((name) => [name, z.boolean()])));

/** A run as its runner last reported it. */
export const runResource = resource<Run, RequestContext>({
  type: "runs",
  id: ({ id }) => id,
  attributes: {
    status: [z.string(), (run) => reportOf(run).status],
    "status-timestamps": [statusTimes, (run) => statusTimestamps(reportOf(run).statusTimestamps)],
    "created-at": [optionalTime, (run) => timestamp(reportOf(run).createdAt)],
    message: [z.string(), (run) => reportOf(run).message],
    source: [z.string(), (run) => reportOf(run).source || "tfe-api"],
    "trigger-reason": [z.string(), (run) => reportOf(run).triggerReason || "manual"],
    "is-destroy": [z.boolean(), (run) => reportOf(run).isDestroy],
    "plan-only": [z.boolean(), (run) => reportOf(run).planOnly],
    "save-plan": [z.boolean(), (run) => reportOf(run).savePlan],
    refresh: [z.boolean(), (run) => reportOf(run).refresh ?? true],
    "refresh-only": [z.boolean(), (run) => reportOf(run).refreshOnly],
    "auto-apply": [z.boolean(), (run) => reportOf(run).autoApply],
    "allow-empty-apply": [z.boolean(), (run) => reportOf(run).allowEmptyApply],
    "has-changes": [z.boolean(), (run) => reportOf(run).hasChanges ?? false],
    "engine-version": [optionalText, (run) => reported(reportOf(run).engineVersion)],
    "terraform-version": [optionalText, (run) => reported(reportOf(run).engineVersion)],
    "target-addrs": [z.array(z.string()), (run) => reportOf(run).targetAddrs],
    "replace-addrs": [z.array(z.string()), (run) => reportOf(run).replaceAddrs],
    variables: [z.array(z.unknown()).max(0), () => []],
    actions: [flags(actions), () => actions],
    permissions: [flags(permissions), () => permissions],
  },
  relationships: {
    workspace: toOneOf({
      type: "workspaces",
      idOf: ({ workspaceId }) => workspaceId,
      link: ({ workspaceId }) => `/api/v2/workspaces/${workspaceId}`,
    }),
    plan: embedded({
      resource: () => planResource,
      of: (run) => {
        const report = reportOf(run);
        return report.plan?.id ? { plan: report.plan, run: report } : undefined;
      },
    }),
    apply: toOneOf({ type: "applies", idOf: (run) => reportOf(run).apply?.id }),
    "configuration-version": toOneOf({
      type: "configuration-versions",
      idOf: (run) => reportOf(run).configurationVersionId,
      resource: () => configurationVersionResource,
    }),
    "created-by": toOneOf({
      type: "users",
      idOf: (run) => reportOf(run).createdByUserId,
      resource: () => userResource,
    }),
  },
  loadMany: (ids, { runs }) => runs(ids),
});
