import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { Answer } from "../stack/http.ts";
import {
  announcement,
  expectStatus,
  inlineState,
  type StateFile,
  stateFile,
} from "../stack/state.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";
import type { FaultFixture } from "./fixture.ts";

type OwnedOrganization = Pick<FaultFixture, "owner" | "organization">;

/** Creates a workspace; returns its id. */
export const newWorkspace = async ({ owner, organization }: OwnedOrganization): Promise<string> =>
  (await newWorkspaceIn(owner.api, organization)).id;

/** Creates a workspace that the owner has locked; returns its id. */
export async function newLockedWorkspace(target: OwnedOrganization): Promise<string> {
  const id = await newWorkspace(target);
  await expectStatus(200, lock(target, id));
  return id;
}

export const lock = ({ owner }: Pick<FaultFixture, "owner">, id: string): Promise<Answer> =>
  owner.api.post(`/workspaces/${id}/actions/lock`);

export const unlock = ({ owner }: Pick<FaultFixture, "owner">, id: string): Promise<Answer> =>
  owner.api.post(`/workspaces/${id}/actions/unlock`);

const written = (lineage: string, serial: number): StateFile =>
  stateFile({
    lineage,
    serial,
    resources: serial,
    outputs: { serial: { value: serial, type: "number" } },
    marker: randomUUID(),
  });

/** Returns a state with a new lineage. */
export const one = (): StateFile => written(randomUUID(), 1);

/** Returns two successive states, as the engine writes them. */
export function two(): [StateFile, StateFile] {
  const lineage = randomUUID();
  return [written(lineage, 1), written(lineage, 2)];
}

/** Returns `count` successive states of one lineage. */
export function succession(count: number): StateFile[] {
  const lineage = randomUUID();
  return Array.from({ length: count }, (_, index) => written(lineage, index + 1));
}

/** Sends a create request without inline state; returns the version and its upload URL. */
export async function announce(
  { owner }: Pick<FaultFixture, "owner">,
  id: string,
  state: StateFile,
): Promise<{ id: string; workspaceId: string; uploadUrl: string }> {
  const path = `/workspaces/${id}/state-versions`;
  const { body } = await expectStatus(201, owner.api.post(path, announcement(state)));
  return {
    id: body.data.id,
    workspaceId: id,
    uploadUrl: body.data.attributes["hosted-state-upload-url"],
  };
}

/** Sends a create request with inline state and records the version if it is confirmed. */
export async function write(
  fixture: Pick<FaultFixture, "owner" | "acknowledged">,
  id: string,
  state: StateFile,
): Promise<Answer> {
  const path = `/workspaces/${id}/state-versions`;
  const answer = await fixture.owner.api.post(path, inlineState(state));
  if (answer.status === 201) {
    expect(answer.body.data.attributes.status).toBe("finalized");
    acknowledge(fixture, id, answer.body.data.id, state);
  }
  return answer;
}

/** Records that this state was confirmed as stored. */
export const acknowledge = (
  { acknowledged }: Pick<FaultFixture, "acknowledged">,
  workspaceId: string,
  versionId: string,
  { bytes }: Pick<StateFile, "bytes">,
): void => void acknowledged.set(versionId, { workspaceId, bytes });

/** Removes the record of a workspace's confirmed states, because the workspace will be deleted. */
export function forget({ acknowledged }: Pick<FaultFixture, "acknowledged">, id: string): void {
  for (const [versionId, { workspaceId }] of acknowledged) {
    if (workspaceId === id) acknowledged.delete(versionId);
  }
}

/** Returns the response to a request, or undefined if no response arrives. */
export const attempted = (response: Promise<Answer>): Promise<Answer | undefined> =>
  response.catch(() => undefined);
