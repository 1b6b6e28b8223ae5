import { openDatabase } from "@statehouse/postgres";
import { newId } from "@statehouse/postgres/ids";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { proves } from "@statehouse/testing/proves";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { WorkspaceId } from "../ids-domain.ts";
import { migrations } from "../migrations.ts";
import { createReads, entities, transactions } from "../nouns.ts";
import { newOrganization } from "../organization/domain.ts";
import { noPerformance, performanceOf } from "../performance/domain.ts";
import { defaultProject } from "../project/domain.ts";
import { isMeasured, type Run, type RunStatus } from "../run/domain.ts";
import { reportRun } from "../run-report/app.ts";
import { newWorkspace } from "../workspace/domain.ts";

const now = () => new Date();
const stack = new AsyncDisposableStack();
let database: Awaited<ReturnType<typeof openDatabase>>;
let transaction: ReturnType<typeof transactions>;

beforeAll(async () => {
  const { url } = stack.use(await freshDatabase({ contextName: "workspaces", migrations }));
  const logger = createLogger({ service: "test", level: "silent" });
  database = stack.use(
    await openDatabase({ contextName: "workspaces", url, entities, migrations, logger }),
  );
  transaction = transactions(database);
});
afterAll(() => stack.disposeAsync());

async function workspaceOfItsOwn(): Promise<WorkspaceId> {
  const at = now();
  const [id, organizationId, projectId] = [newId("ws"), newId("org"), newId("prj")];
  const workspace = newWorkspace({ id, organizationId, projectId, engineVersion: "1.11.0" }, at);
  workspace.name = id;
  await transaction(async (tx) => {
    tx.organizations.save(
      newOrganization(
        {
          id: organizationId,
          defaultProjectId: projectId,
          creatorUserId: "user-1",
          defaultExecutionMode: "local",
          name: organizationId,
          settings: { email: "a@example.com" },
        },
        at,
      ),
    );
    tx.projects.save(defaultProject(projectId, organizationId, at));
    tx.workspaces.save(workspace);
  });
  return id;
}

type Report = Pick<
  Run,
  "status" | "planMs" | "applyMs" | "policyCheckFailed" | "planOnly" | "createdAt"
> & { number: number; revision: bigint };

const statuses = [
  "pending",
  "planning",
  "applied",
  "applied",
  "errored",
  "errored",
  "discarded",
] as const satisfies RunStatus[];

/**
 * Generates reports of about 45 runs. Each run has a few revisions. They are reported in any order, and some of them
 * twice.
 */
const reports: fc.Arbitrary<Report[]> = fc
  .array(
    fc.record({
      number: fc.nat(45),
      revision: fc.bigInt({ min: 1n, max: 4n }),
      status: fc.constantFrom(...statuses),
      planMs: fc.option(fc.nat(10_000)),
      applyMs: fc.option(fc.nat(10_000)),
      policyCheckFailed: fc.boolean(),
      planOnly: fc.boolean(),
      // Only a few different times occur, so that some runs have the same creation time, and some reports change the
      // creation time of their run.
      createdAt: fc.nat(30).map((second) => new Date(1_700_000_000_000 + second * 1000)),
    }),
    { minLength: 60, maxLength: 160 },
  )
  // All reports of the same revision of a run have the same values.
  .map((all) => [...new Map(all.map((one) => [`${one.number} ${one.revision}`, one])).values()])
  .chain((once) => fc.shuffledSubarray([...once, ...once], { minLength: once.length }));

const runOf = (workspaceId: WorkspaceId, { number, ...report }: Report): Run => ({
  ...report,
  id: `run-${workspaceId.slice(3)}n${String(number).padStart(2, "0")}`,
  runner: "runner",
  workspaceId,
  isDestroy: false,
  configurationVersionId: null,
  report: {},
});

const newestFirst = (one: Run, other: Run) =>
  other.createdAt.getTime() - one.createdAt.getTime() || (one.id < other.id ? 1 : -1);

test("the stored reports and sums equal a recount, regardless of the order of reports", async () => {
  proves(
    "Workspace run attributes/apply-duration-average, plan-duration-average, policy-check-failures, run-failures",
  );
  await fc.assert(
    fc.asyncProperty(reports, async (sequence) => {
      const workspaceId = await workspaceOfItsOwn();
      const latest = new Map<string, Run>();
      for (const report of sequence) {
        const run = runOf(workspaceId, report);
        await reportRun({ transaction, now }, run);
        const known = latest.get(run.id);
        if (!known || known.revision < run.revision) latest.set(run.id, run);
      }
      const [view] = await createReads(database).workspaces.batch([workspaceId]);
      if (!view) throw new Error("the workspace is missing");
      const runs = [...latest.values()].toSorted(newestFirst);
      const recounted = performanceOf(runs.filter(({ status }) => isMeasured(status)));
      expect(view.performance ?? noPerformance).toEqual(recounted);
      const changing = runs.filter(({ planOnly }) => !planOnly);
      const current = changing.find(({ status }) => status !== "pending") ?? changing[0];
      expect(view.latestRunId).toBe(runs[0]?.id ?? null);
      expect(view.currentRunId).toBe(current?.id ?? null);
      const [columns] = await database.query(
        `select current_run_status as status, current_run_created_at as "createdAt"
         from workspaces where id = $1`,
        [workspaceId],
      );
      expect(columns).toEqual({
        status: current?.status ?? null,
        createdAt: current?.createdAt ?? null,
      });
    }),
    { numRuns: 12 },
  );
}, 120_000);

test("a report for a deleted workspace is refused", async () => {
  const run = runOf("ws-gone", {
    number: 1,
    revision: 1n,
    status: "applied",
    planMs: 1,
    applyMs: 1,
    policyCheckFailed: false,
    planOnly: false,
    createdAt: new Date(),
  });
  await expect(reportRun({ transaction, now }, run)).rejects.toMatchObject({ kind: "notFound" });
  expect(await database.query("select from runs where workspace_id = 'ws-gone'", [])).toEqual([]);
});

test("a run cannot be reported for another workspace", async () => {
  const [one, other] = [await workspaceOfItsOwn(), await workspaceOfItsOwn()];
  const report = {
    number: 1,
    status: "applied",
    planMs: 1,
    applyMs: 1,
    policyCheckFailed: false,
    planOnly: false,
    createdAt: new Date(),
  } as const;
  const run = runOf(one, { ...report, revision: 1n });
  await reportRun({ transaction, now }, run);
  await expect(
    reportRun({ transaction, now }, { ...run, workspaceId: other, revision: 2n }),
  ).rejects.toMatchObject({ reason: "reported_elsewhere" });
});
