import { randomUUID } from "node:crypto";
import { type Api, document, linkage } from "../stack/http.ts";
import {
  expectStatus,
  inlineState,
  rollbackTo,
  type StateFile,
  stateFile,
} from "../stack/state.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";

/** When a request was sent and when its response arrived. */
export interface Span {
  from: number;
  until: number;
}

/** A state version that was confirmed to the client. */
export interface JournalVersion {
  id: string;
  bytes: Buffer;
  made: Span;
  /** When an owner deleted it permanently. */
  deleted?: Span;
}

export interface JournalWorkspace {
  id: string;
  made: Span;
  versions: JournalVersion[];
  moved: Span[];
  deleted?: Span;
}

export interface HistoryTarget {
  api: Api;
  organization: string;
  projects: readonly string[];
}

export interface History extends AsyncDisposable {
  readonly journal: readonly JournalWorkspace[];
  /** Waits for the requests in progress and ends the history. Throws the first failure. */
  end(): Promise<void>;
}

const LANES = 3;

/** Sends random requests in several concurrent lanes until the history is ended. */
export function startHistory(target: HistoryTarget, random: () => number): History {
  const journal: JournalWorkspace[] = [];
  let over = false;
  const lane = async () => {
    const own: JournalWorkspace[] = [];
    while (!over) {
      const workspace = own[Math.floor(random() * own.length)];
      if (!workspace || random() < 0.15) own.push(await made(target, journal));
      else if (workspace.deleted) own.splice(own.indexOf(workspace), 1);
      else await step(target, workspace, random());
    }
  };
  const lanes = Promise.all(Array.from({ length: LANES }, lane));
  lanes.catch(() => {
    over = true;
  });
  const end = async () => {
    over = true;
    await lanes;
  };
  return { journal, end, [Symbol.asyncDispose]: () => end().catch(() => {}) };
}

async function timed<T>(work: Promise<T>): Promise<{ span: Span; result: T }> {
  const from = Date.now();
  const result = await work;
  return { span: { from, until: Date.now() }, result };
}

async function made({ api, organization }: HistoryTarget, journal: JournalWorkspace[]) {
  const { span, result } = await timed(newWorkspaceIn(api, organization));
  const workspace: JournalWorkspace = { id: result.id, made: span, versions: [], moved: [] };
  journal.push(workspace);
  return workspace;
}

async function step(
  target: HistoryTarget,
  workspace: JournalWorkspace,
  chance: number,
): Promise<void> {
  const [older] = workspace.versions.slice(0, -1).filter(({ deleted }) => !deleted);
  if (chance < 0.6) return written(target, workspace);
  if (chance < 0.7) return moved(target, workspace);
  if (chance < 0.8 && older) return rolledBack(target, workspace, older);
  if (chance < 0.92 && older) return deletedPermanently(target, older);
  if (workspace.versions.length > 0) return deleted(target, workspace);
}

const act = (api: Api, id: string, action: string) =>
  expectStatus(200, api.post(`/workspaces/${id}/actions/${action}`));

/** Writes one state under a lock that it takes and releases. */
async function written({ api }: HistoryTarget, workspace: JournalWorkspace): Promise<void> {
  const { id, versions } = workspace;
  const state: StateFile = stateFile({
    serial: versions.length + 1,
    lineage: id,
    resources: versions.length % 3,
    marker: randomUUID(),
  });
  await act(api, id, "lock");
  const created = api.post(`/workspaces/${id}/state-versions`, inlineState(state));
  const { span, result } = await timed(expectStatus(201, created));
  versions.push({ id: result.body.data.id, bytes: state.bytes, made: span });
  await act(api, id, "unlock");
}

async function rolledBack({ api }: HistoryTarget, workspace: JournalWorkspace, to: JournalVersion) {
  const { id, versions } = workspace;
  await act(api, id, "lock");
  const created = api.patch(`/workspaces/${id}/state-versions`, rollbackTo(to.id));
  const { span, result } = await timed(created);
  if (result.status === 200 || result.status === 201) {
    const state = await expectStatus(200, api.get(`/state-versions/${result.body.data.id}`));
    versions.push({ id: state.body.data.id, bytes: to.bytes, made: span });
  }
  await act(api, id, "unlock");
}

async function moved({ api, projects }: HistoryTarget, workspace: JournalWorkspace): Promise<void> {
  const project = projects[workspace.moved.length % projects.length] ?? "";
  const to = document("workspaces", {}, { project: linkage("projects", project) });
  const { span } = await timed(expectStatus(200, api.patch(`/workspaces/${workspace.id}`, to)));
  workspace.moved.push(span);
}

async function deletedPermanently({ api }: HistoryTarget, version: JournalVersion): Promise<void> {
  const path = `/state-versions/${version.id}/actions`;
  const from = Date.now();
  version.deleted = { from, until: Number.POSITIVE_INFINITY };
  await expectStatus(200, api.post(`${path}/soft_delete_backing_data`));
  await expectStatus(200, api.post(`${path}/permanently_delete_backing_data`));
  version.deleted = { from, until: Date.now() };
}

async function deleted({ api }: HistoryTarget, workspace: JournalWorkspace): Promise<void> {
  const from = Date.now();
  workspace.deleted = { from, until: Number.POSITIVE_INFINITY };
  await expectStatus(204, api.delete(`/workspaces/${workspace.id}`));
  workspace.deleted = { from, until: Date.now() };
}
