import type { App } from "../app.ts";
import { applySummary, replaceSummary } from "../state-summary/app.ts";
import { syncPlacement } from "../workspace-placement/app.ts";
import {
  type Discrepancy,
  differences,
  type Healing,
  type OwnRecord,
  type StateRecord,
} from "./domain.ts";
import type { ComparisonPosition } from "./store.ts";

/** Number of workspaces in a page. If nothing differs, a page costs one SQL statement in each of the two services. */
const PAGE = 500;
/** If a replica crashes, another replica takes over its page after this time, in ms. */
const LEASE_MS = 60_000;

/**
 * The differences that the comparison found on one page: the ids of workspaces, grouped by difference. Differences in
 * `healed` were repaired; those in `reported` need an operator.
 */
export interface Comparison {
  healed: Map<Healing, string[]>;
  reported: Map<Discrepancy, string[]>;
}

/**
 * Compares the next page of workspaces with the state service's records, repairs the differences that can be repaired
 * (most are caused by lost events), and returns all differences. Any replica may call this function. Returns undefined
 * if no page is due or another replica is comparing the page. Throws `unavailable` if the state service does not
 * respond; a later call then compares the page.
 */
export async function compareNextPage(app: App): Promise<Comparison | undefined> {
  const now = app.now();
  const position = await app.leases.stateComparisons.claim(now, new Date(now.getTime() + LEASE_MS));
  if (!position) return undefined;
  const comparison: Comparison = { healed: new Map(), reported: new Map() };
  const compare = position.through === "theirs" ? compareTheirs : compareOurs;
  const next = await compare(app, position.after, comparison).catch(async (error: unknown) => {
    // Releases the lease, so that another replica can compare the page.
    await app.leases.stateComparisons.moveTo(position, now);
    throw error;
  });
  const wrapped = next === undefined && position.through === "ours";
  const dueAt = new Date(now.getTime() + (wrapped ? app.settings.comparisonIntervalMs : 0));
  await app.leases.stateComparisons.moveTo(following(position, next), dueAt);
  return comparison;
}

const following = (
  { through }: ComparisonPosition,
  after: string | undefined,
): ComparisonPosition =>
  after === undefined
    ? { through: through === "theirs" ? "ours" : "theirs", after: "" }
    : { through, after };

/**
 * Compares a page of the state service's rows with the rows of this service. The rows of the state service are read
 * first. A workspace without a row in this service was therefore not created between the two reads: it never existed,
 * or its row was lost.
 */
async function compareTheirs(
  app: App,
  after: string,
  found: Comparison,
): Promise<string | undefined> {
  const states = await app.state.listWorkspaces({ after, limit: PAGE });
  const own = await app.reads.stateComparisons.ofWorkspaces(ids(states));
  const behind: string[] = [];
  for (const state of states) {
    const { workspaceId } = state;
    const record = own.get(workspaceId);
    const { heal, report } = differences(record, state, app.now());
    for (const what of heal) {
      await healers[what](app, state, record);
      note(found.healed, what, workspaceId);
    }
    for (const what of report) {
      // The state service may have published a newer summary after its record was read, so the record is read again
      // below.
      if (what === "stateBehind") behind.push(workspaceId);
      else note(found.reported, what, workspaceId);
    }
  }
  if (behind.length > 0) {
    for (const state of await app.state.listWorkspaces({ workspaceIds: behind })) {
      const { report } = differences(own.get(state.workspaceId), state, app.now());
      if (report.includes("stateBehind")) note(found.reported, "stateBehind", state.workspaceId);
    }
  }
  return states.length < PAGE ? undefined : states.at(-1)?.workspaceId;
}

/**
 * Compares a page of the rows of this service, to find workspaces that the state service has lost. The rows of this
 * service are read first. They show which workspaces the state service has reported on; that service must still have a
 * record of each of these workspaces.
 */
async function compareOurs(
  app: App,
  after: string,
  found: Comparison,
): Promise<string | undefined> {
  const page = await app.reads.stateComparisons.reportedAfter(after, PAGE);
  const reported = page.filter((row) => row.reported).map(({ id }) => id);
  if (reported.length > 0) {
    const known = new Set(ids(await app.state.listWorkspaces({ workspaceIds: reported })));
    for (const id of reported) if (!known.has(id)) note(found.reported, "unknownToState", id);
  }
  return page.length < PAGE ? undefined : page.at(-1)?.id;
}

type Heal = (app: App, state: StateRecord, own: OwnRecord | undefined) => Promise<void>;

const healers = {
  summary: async (app, { summary }, own) => {
    if (own && !own.deleted) await applySummary(app, own.placement.workspaceId, summary);
  },
  placement: async (app, _, own) => {
    if (own && !own.deleted) await syncPlacement(app, own.placement);
  },
  // This service's placement was read after the state service's record. If that record nevertheless has a higher
  // placement version, this service has never assigned that version, or has lost it in a restore.
  placementAhead: async (app, { placementVersion }, own) => {
    if (own && !own.deleted)
      await syncPlacement(app, own.placement, { replacedVersion: placementVersion });
  },
  summaryAhead: async (app, { summary }, own) => {
    if (!own || own.deleted) return;
    await replaceSummary(app, own.placement.workspaceId, summary, own.stateRevision);
  },
  deletion: (app, { workspaceId }) => app.state.dropWorkspace(workspaceId),
} satisfies Record<Healing, Heal>;

const ids = (states: readonly StateRecord[]): string[] =>
  states.map(({ workspaceId }) => workspaceId);

function note<Kind>(list: Map<Kind, string[]>, kind: Kind, id: string): void {
  list.set(kind, [...(list.get(kind) ?? []), id]);
}
