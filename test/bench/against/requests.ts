import { randomUUID } from "node:crypto";
import { document } from "../../stack/http.ts";
import { inlineState } from "../../stack/state.ts";
import { type OwnWorkspace, type Server, stateOf } from "./server.ts";

/** One request of a sequence. */
export interface Step {
  method: "GET" | "POST";
  path: string;
  expect: number;
  /** Makes a body for each request. */
  body?: () => object;
}

/** A sequence of requests that each connection repeats on its own workspace. */
export interface Comparison {
  name: string;
  /** Returns the sequence, or undefined if the server cannot answer its requests; the comparison is then left out. */
  steps(server: Server, own: OwnWorkspace): readonly Step[] | undefined;
}

const get = (path: string): readonly Step[] => [{ method: "GET", path, expect: 200 }];
const action = (path: string): Step => ({ method: "POST", path, expect: 200, body: () => ({}) });

const lock = ({ id }: OwnWorkspace) => action(`/api/v2/workspaces/${id}/actions/lock`);
const unlock = ({ id }: OwnWorkspace) => action(`/api/v2/workspaces/${id}/actions/unlock`);
const workspaces = ({ organization }: Server) => `/api/v2/organizations/${organization}/workspaces`;

export const comparisons: readonly Comparison[] = [
  {
    name: "show a workspace by name",
    steps: (server, { name }) => get(`${workspaces(server)}/${name}`),
  },
  {
    name: "list of 20 workspaces",
    steps: (server) => get(`${workspaces(server)}?page%5Bsize%5D=20`),
  },
  {
    name: "list of 20 with a search",
    steps: (server) => get(`${workspaces(server)}?search%5Bname%5D=other&page%5Bsize%5D=20`),
  },
  {
    name: "current state version",
    steps: (_, { id }) => get(`/api/v2/workspaces/${id}/current-state-version`),
  },
  {
    name: "its outputs",
    steps: (_, { id }) => get(`/api/v2/workspaces/${id}/current-state-version-outputs`),
  },
  {
    name: "list of 20 state versions",
    steps: ({ organization }, { name }) =>
      get(
        `/api/v2/state-versions?filter%5Borganization%5D%5Bname%5D=${organization}&filter%5Bworkspace%5D%5Bname%5D=${name}&page%5Bsize%5D=20`,
      ),
  },
  {
    name: "download of 8 KiB",
    steps: (_, { downloadPath }) => (downloadPath ? get(downloadPath) : undefined),
  },
  { name: "lock and unlock", steps: (_, own) => [lock(own), unlock(own)] },
  {
    name: "lock, write 8 KiB, unlock",
    steps: (_, own) => [
      lock(own),
      {
        method: "POST",
        path: `/api/v2/workspaces/${own.id}/state-versions`,
        expect: 201,
        body: () => inlineState(stateOf(++own.serial, own.lineage)),
      },
      unlock(own),
    ],
  },
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
];
