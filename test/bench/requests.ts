import { randomUUID } from "node:crypto";
import { document } from "../stack/http.ts";
import { announcement, inlineState, type StateFile } from "../stack/state.ts";
import type { Candidate, Step } from "./load.ts";
import { type OwnWorkspace, type Server, stateOf } from "./server.ts";

/** A request, or a sequence of requests that each connection repeats on its own workspace. */
export interface MeasuredRequest {
  name: string;
  /** Whether it reads only, except for the record of its audit trail. */
  reads?: true;
  /** The highest permitted ratio of its cost to that of another checkout, if it is not that of the other requests. */
  mostOfOther?: number;
  /** Returns the sequence, or undefined if the server cannot answer its requests; it is then left out. */
  steps(server: Server, own: OwnWorkspace): readonly Step[] | undefined;
}

const action = ({ id }: OwnWorkspace, name: string): Step => ({
  method: "POST",
  path: `/api/v2/workspaces/${id}/actions/${name}`,
  expect: 200,
  body: () => ({}),
});

const versionsOf = ({ id }: OwnWorkspace) => `/api/v2/workspaces/${id}/state-versions`;
const workspaces = ({ organization }: Server) => `/api/v2/organizations/${organization}/workspaces`;

const read = (
  name: string,
  pathOf: (server: Server, own: OwnWorkspace) => string | undefined,
): MeasuredRequest => ({
  name,
  reads: true,
  steps: (server, own) => {
    const path = pathOf(server, own);
    return path === undefined ? undefined : [{ method: "GET", path: encodeURI(path), expect: 200 }];
  },
});

/** Returns a list of workspaces with a query. */
export const listOfWorkspaces = (name: string, query: string): MeasuredRequest =>
  read(name, (server) => `${workspaces(server)}?${query}`);

/** Sends an announced state to the upload URL of the response before. */
function uploadSteps(own: OwnWorkspace): Step[] {
  let state: StateFile | undefined;
  return [
    {
      method: "POST",
      path: versionsOf(own),
      expect: 201,
      body: () => {
        state = stateOf(++own.serial, own.lineage);
        return announcement(state);
      },
      keep: (response, kept) => {
        const url = JSON.parse(response).data.attributes["hosted-state-upload-url"];
        const { pathname, search } = new URL(url);
        kept.uploadPath = pathname + search;
      },
    },
    {
      method: "PUT",
      path: ({ uploadPath = "" }) => uploadPath,
      expect: 200,
      body: () => state?.bytes ?? Buffer.alloc(0),
    },
  ];
}

export const requests: readonly MeasuredRequest[] = [
  read("show a workspace", (_, { id }) => `/api/v2/workspaces/${id}`),
  read("show a workspace by name", (server, { name }) => `${workspaces(server)}/${name}`),
  listOfWorkspaces("list of 20 workspaces", "page[size]=20"),
  listOfWorkspaces("list of 20 with a search", "search[name]=other&page[size]=20"),
  read("current state version", (_, { id }) => `/api/v2/workspaces/${id}/current-state-version`),
  read("its outputs", (_, { id }) => `/api/v2/workspaces/${id}/current-state-version-outputs`),
  read(
    "list of 20 state versions",
    ({ organization }, { name }) =>
      `/api/v2/state-versions?filter[organization][name]=${organization}&filter[workspace][name]=${name}&page[size]=20`,
  ),
  read("download of 8 KiB", (_, { downloadPath }) => downloadPath),
  {
    name: "create a workspace",
    steps: (server) => [
      {
        method: "POST",
        path: workspaces(server),
        expect: 201,
        body: () => document("workspaces", { name: `new-${randomUUID()}` }),
      },
    ],
  },
  {
    name: "lock and unlock",
    steps: (_, own) => [action(own, "lock"), action(own, "unlock")],
  },
  {
    name: "lock, write 8 KiB inline, unlock",
    mostOfOther: 1.25,
    steps: (_, own) => [
      action(own, "lock"),
      {
        method: "POST",
        path: versionsOf(own),
        expect: 201,
        body: () => inlineState(stateOf(++own.serial, own.lineage)),
      },
      action(own, "unlock"),
    ],
  },
  {
    name: "lock, write 8 KiB by upload URL, unlock",
    // A server that sends downloads to another host sends uploads there, too.
    steps: (_, own) =>
      own.downloadPath === undefined
        ? undefined
        : [action(own, "lock"), ...uploadSteps(own), action(own, "unlock")],
  },
];

/** Returns the candidate that sends a request to the server on each connection; undefined if it cannot answer it. */
export function candidateOf(
  server: Server,
  { steps }: MeasuredRequest,
  cpu?: Candidate["cpu"],
): Candidate | undefined {
  const sequences = server.own.map((own) => steps(server, own));
  if (!sequences.every((sequence) => sequence !== undefined)) return undefined;
  const { name, url, token } = server;
  return { name, urls: [url], token, sequences, ...(cpu && { cpu }) };
}
