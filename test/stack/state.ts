import { createHash, randomUUID } from "node:crypto";
import { waitFor } from "@statehouse/testing";
import { type Answer, type Api, document } from "./http.ts";

/** A state file as the engine writes it, with the values that its create request contains. */
export interface StateFile {
  serial: number;
  lineage: string;
  md5: string;
  bytes: Buffer;
}

interface StateContent {
  serial?: number;
  lineage?: string;
  outputs?: Record<string, { value: unknown; type: unknown; sensitive?: boolean }>;
  /** Number of managed resources. */
  resources?: number;
  engineVersion?: string;
  /** Any text; changes the bytes of the state and nothing else. */
  marker?: string;
}

export const md5Of = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("hex");

/**
 * Returns a state in version 4 of the engine's format. By default, the state names 1.11.0 as the version of the engine
 * that wrote it.
 */
export function stateFile({
  serial = 1,
  lineage = randomUUID(),
  outputs = {},
  resources = 0,
  engineVersion = "1.11.0",
  marker,
}: StateContent = {}): StateFile {
  const content = {
    version: 4,
    terraform_version: engineVersion,
    serial,
    lineage,
    outputs,
    resources: Array.from({ length: resources }, (_, index) => ({
      mode: "managed",
      type: "terraform_data",
      name: `resource_${index}`,
      provider: 'provider["terraform.io/builtin/terraform"]',
      instances: [{ schema_version: 0, attributes: { id: randomUUID(), input: marker ?? null } }],
    })),
    check_results: null,
    ...(marker === undefined ? {} : { marker }),
  };
  const bytes = Buffer.from(`${JSON.stringify(content, null, 2)}\n`);
  return { serial, lineage, bytes, md5: md5Of(bytes) };
}

/**
 * Returns the body of a request that creates a state version. `attributes` are added to those of the state or replace
 * them.
 */
export const announcement = (
  { serial, md5, lineage }: StateFile,
  attributes: Record<string, unknown> = {},
) => document("state-versions", { serial, md5, lineage, ...attributes });

/** Returns the body of a request that creates a state version with inline state. */
export const inlineState = (state: StateFile, attributes: Record<string, unknown> = {}) =>
  announcement(state, { state: state.bytes.toString("base64"), ...attributes });

/** Returns the body of a request that rolls a workspace back to the state version `id`. */
export const rollbackTo = (id: string) => ({
  data: {
    type: "state-versions",
    relationships: { "rollback-state-version": { data: { type: "state-versions", id } } },
  },
});

/** Creates a state version. Locks the workspace before and unlocks it afterwards. */
export async function writeState(
  api: Api,
  workspaceId: string,
  state: StateFile,
  attributes: Record<string, unknown> = {},
): Promise<Answer> {
  await expectStatus(200, api.post(`/workspaces/${workspaceId}/actions/lock`));
  const created = await api.post(
    `/workspaces/${workspaceId}/state-versions`,
    inlineState(state, attributes),
  );
  await expectStatus(200, api.post(`/workspaces/${workspaceId}/actions/unlock`));
  return created;
}

/** Waits until a state version is extracted; returns its document. */
export const processedVersion = (
  api: Api,
  id: string,
  patience: Parameters<typeof waitFor>[1] = {},
): Promise<Answer["body"]> =>
  waitFor(
    async () => {
      const { data } = (await expectStatus(200, api.get(`/state-versions/${id}`))).body;
      return data.attributes["resources-processed"] && data;
    },
    { what: "the extraction of the state", ...patience },
  );

/** Returns the response if it has this status; otherwise throws an error with its content. */
export async function expectStatus(status: number, response: Promise<Answer>): Promise<Answer> {
  const answer = await response;
  if (answer.status === status) return answer;
  throw new Error(`Expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
}
