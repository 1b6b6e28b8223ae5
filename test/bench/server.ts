import { randomUUID } from "node:crypto";
import { type Answer, api, document } from "../stack/http.ts";
import { expectStatus, stateFile, writeState } from "../stack/state.ts";
import { projectAccess } from "../stack/team-access.ts";

/** The address of a server with Statehouse's HTTP API, and a token that may create workspaces in `organization`. */
export interface Address {
  name: string;
  url: string;
  token: string;
  /** Default: a new organization. */
  organization?: string | undefined;
}

/** A workspace that one connection reads and writes. */
export interface OwnWorkspace {
  id: string;
  name: string;
  lineage: string;
  /** Serial of the last state that was sent. */
  serial: number;
  /** The download path of the workspace's current state, or undefined if another host serves the state. */
  downloadPath: string | undefined;
}

/** A server and the data that the comparison has created on it. */
export interface Server extends Address {
  organization: string;
  /** One workspace for each connection. */
  own: readonly OwnWorkspace[];
}

/** Approximate size in bytes of a state that a comparison writes. */
export const STATE_BYTES = 8192;
/** Number of state versions in each workspace that a connection reads and writes. */
const VERSIONS = 20;

/** Returns a state of about `STATE_BYTES`, with resources and an output. */
export const stateOf = (serial: number, lineage: string) =>
  stateFile({
    serial,
    lineage,
    resources: 3,
    outputs: { region: { value: "eu-1", type: "string" } },
    marker: "x".repeat((STATE_BYTES - 1300) / 4),
  });

/**
 * Creates the data of the comparison through the API: an organization unless one is given, and `workspaces` workspaces.
 * One workspace for each connection has state versions.
 */
export async function fill(
  address: Address,
  { workspaces, connections }: { workspaces: number; connections: number },
): Promise<Server> {
  const client = api(address.url, address.token);
  const organization = address.organization ?? `bench-${randomUUID().slice(0, 8)}`;
  const organizationPath = `/organizations/${organization}`;
  if (!address.organization) {
    const created = document("organizations", { name: organization, email: "bench@example.com" });
    await expectStatus(201, client.post("/organizations", created));
  }
  const newWorkspace = (name: string): Promise<Answer> =>
    expectStatus(
      201,
      client.post(`${organizationPath}/workspaces`, document("workspaces", { name })),
    );
  const own: OwnWorkspace[] = [];
  for (let index = 0; index < connections; index++) {
    const name = `own-${randomUUID().slice(0, 8)}`;
    const { id } = (await newWorkspace(name)).body.data;
    const lineage = randomUUID();
    for (let serial = 1; serial <= VERSIONS; serial++) {
      await expectStatus(201, writeState(client, id, stateOf(serial, lineage)));
    }
    const current = client.get(`/workspaces/${id}/current-state-version`);
    const { attributes } = (await expectStatus(200, current)).body.data;
    const downloadPath = await pathOf(address, attributes["hosted-state-download-url"]);
    own.push({ id, name, lineage, serial: VERSIONS, downloadPath });
  }
  for (let index = connections; index < workspaces; index++) {
    await newWorkspace(`other-${randomUUID().slice(0, 8)}-${index}`);
  }
  return { ...address, organization, own };
}

/** Creates a team that may read and write the projects, and returns a token of the team. */
export async function newMember(
  { url, token, organization }: Server,
  projectIds: readonly string[],
): Promise<string> {
  const owner = api(url, token);
  const made = document("teams", { name: `members-${randomUUID().slice(0, 8)}` });
  const team = await expectStatus(201, owner.post(`/organizations/${organization}/teams`, made));
  const { id } = team.body.data;
  for (const projectId of projectIds) {
    const access = projectAccess(id, projectId, { access: "write" });
    await expectStatus(200, owner.post("/team-projects", access));
  }
  const credential = await expectStatus(201, owner.post(`/teams/${id}/authentication-token`));
  return credential.body.data.attributes.token;
}

/**
 * Follows the redirects of a download. Returns the path that serves the bytes, or undefined if another host serves
 * them.
 */
async function pathOf({ url, token }: Address, location: string): Promise<string | undefined> {
  const { origin } = new URL(url);
  let target = new URL(location, url);
  for (let redirections = 0; redirections < 5 && target.origin === origin; redirections++) {
    const response = await fetch(target, {
      redirect: "manual",
      headers: { authorization: `Bearer ${token}` },
    });
    await response.arrayBuffer();
    if (response.status === 200) return target.pathname + target.search;
    const next = response.headers.get("location");
    if (!next) throw new Error(`${target.pathname}: status ${response.status}`);
    target = new URL(next, target);
  }
  return undefined;
}
