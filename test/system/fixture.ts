import { waitFor } from "@statehouse/testing";
import { afterAll, beforeAll, test } from "vitest";
import { recordCall } from "../golden/route-coverage.ts";
import { type Answer, type Api, api, document } from "../stack/http.ts";
import { newOrganization, organizationId, unusedName } from "../stack/organization.ts";
import type { Person } from "../stack/people.ts";
import { type Stack, type StackOptions, startStack } from "../stack/stack.ts";
import { expectStatus } from "../stack/state.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";

/** Options that are plain data. Test files with equal options share a stack. */
type SharedStackOptions = Pick<StackOptions, "blobs" | "settings">;

/** A user with a client of the API. */
export interface ApiUser extends Person {
  api: Api;
}

/** A stack and the users that the tests need. */
export interface Fixture<Running extends Stack = Stack> {
  readonly stack: Running;
  readonly url: string;
  /** The owner's organization. All users except `outsider` belong to it. */
  readonly organization: string;
  readonly owner: ApiUser;
  /** A member whose team may read only the project `readable`. */
  readonly reader: ApiUser;
  readonly readersTeamId: string;
  readonly readable: { id: string; name: string };
  /** Owner of another organization. */
  readonly outsider: ApiUser & { organization: string };
  /** A client without a token. */
  readonly anonymous: Api;
}

/** Creates a client whose calls are recorded for the golden file of routes. */
export const recordedApi = (url: string, token?: string): Api => api(url, token, recordCall);

/** Creates a user in the stack. */
export async function newUser(
  stack: Stack,
  options?: { administrator?: boolean },
): Promise<ApiUser> {
  const person = await stack.people.newUser(undefined, options);
  return { ...person, api: recordedApi(stack.url, person.token) };
}

/** Creates the users of a fixture in a running stack. */
export async function populate<Running extends Stack>(stack: Running): Promise<Fixture<Running>> {
  const [owner, reader, outsider] = await Promise.all([
    newUser(stack),
    newUser(stack),
    newUser(stack),
  ]);
  // The requests are repeated, because services that have just started may still be connecting.
  const [organization, foreign] = await Promise.all([
    waitFor(() => newOrganization(owner.api)),
    waitFor(() => newOrganization(outsider.api)),
  ]);
  const readable = await newProject({ organization, owner });
  const readers = await stack.people.newTeam({
    organizationId: await organizationId(stack, organization),
    name: "readers",
    members: [reader],
  });
  await stack.people.grant({ teamId: readers.id, projectId: readable.id, access: "read" });
  return {
    stack,
    url: stack.url,
    organization,
    owner,
    reader,
    readersTeamId: readers.id,
    readable,
    outsider: { ...outsider, organization: foreign },
    anonymous: recordedApi(stack.url),
  };
}

/** Returns Vitest's test function, extended with the stacks of a worker. */
const extended = () =>
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads the fixtures that this one needs from the pattern.
  test.extend("stacks", { scope: "worker" }, async ({}, { onCleanup }) => {
    const stacks = new Map<string, Promise<Stack>>();
    onCleanup(async () => {
      for (const stack of stacks.values()) await (await stack)[Symbol.asyncDispose]();
    });
    return stacks;
  });
/**
 * The test function with the stacks of a worker, keyed by their options. Files with equal options share one stack,
 * which starts at its first use. The function is created when this file is imported, because Vitest accepts its
 * creation only at the top level, and `useFixture` can be called in a `describe`. It is undefined in commands, which
 * import this file without Vitest.
 */
const worker = process.env.VITEST ? extended() : undefined;

function inWorker(): ReturnType<typeof extended> {
  if (!worker) throw new Error("There are no fixtures without Vitest.");
  return worker;
}

/**
 * Provides a fixture for all tests of the file: its own users and organizations, in a stack in one process that all
 * files with equal options share.
 */
export function useFixture(options: SharedStackOptions = {}): () => Fixture {
  let fixture: Fixture | undefined;
  inWorker().beforeAll(async ({ stacks }) => {
    const key = JSON.stringify(options);
    const stack = stacks.get(key) ?? startStack(options);
    stacks.set(key, stack);
    fixture = await populate(await stack);
  });
  return () => started(fixture);
}

/** Provides a fixture for all tests of the file, in a stack that `start` starts for this file. */
export function useStack<Running extends Stack>(
  start: () => Promise<Running>,
): () => Fixture<Running> {
  let fixture: Fixture<Running> | undefined;
  let stack: Running | undefined;
  beforeAll(async () => {
    stack = await start();
    fixture = await populate(stack);
  });
  afterAll(() => stack?.[Symbol.asyncDispose]());
  return () => started(fixture);
}

function started<Running extends Stack>(fixture: Fixture<Running> | undefined): Fixture<Running> {
  if (!fixture) throw new Error("the fixture is available only while the tests of the file run");
  return fixture;
}

/** Creates a project; returns its id and name. */
export async function newProject({
  organization,
  owner,
}: Pick<Fixture, "organization" | "owner">): Promise<{ id: string; name: string }> {
  const name = unusedName("project");
  const path = `/organizations/${organization}/projects`;
  const { body } = await expectStatus(201, owner.api.post(path, document("projects", { name })));
  return { id: body.data.id, name };
}

/** Creates a secret team with one member who belongs to no other team. */
export async function newTeam(
  { stack, organization }: Pick<Fixture, "stack" | "organization">,
  organizationAccess: readonly string[] = [],
): Promise<{ id: string; member: ApiUser }> {
  const member = await newUser(stack);
  const { id } = await stack.people.newTeam({
    organizationId: await organizationId(stack, organization),
    name: unusedName("team"),
    members: [member],
    organizationAccess,
  });
  return { id, member };
}

/** Creates a workspace, by default in the default project; returns the `data` of its document. */
export const newWorkspace = (
  { organization, owner }: Pick<Fixture, "organization" | "owner">,
  attributes: Record<string, unknown> = {},
  projectId?: string,
): Promise<Answer["body"]> => newWorkspaceIn(owner.api, organization, attributes, projectId);

/** Creates a workspace that its owner has locked. */
export async function newLockedWorkspace(
  fixture: Pick<Fixture, "organization" | "owner">,
): Promise<Answer["body"]> {
  const workspace = await newWorkspace(fixture);
  const lock = `/workspaces/${workspace.id}/actions/lock`;
  return (await expectStatus(200, fixture.owner.api.post(lock))).body.data;
}

/** Returns the paths of the three documents that show a state version; a query can be appended to each path. */
export const waysToVersion = (
  { organization }: Pick<Fixture, "organization">,
  { id, attributes: { name } }: { id: string; attributes: { name: string } },
  versionId: string,
) => ({
  show: `/state-versions/${versionId}?`,
  current: `/workspaces/${id}/current-state-version?`,
  list: `/state-versions?filter[organization][name]=${organization}&filter[workspace][name]=${name}&`,
});

/** Returns the `detail` of each error. Checks that the response has the members that clients read. */
export function errorDetails({ status, body, headers }: Answer): string[] {
  if (!headers.get("content-type")?.startsWith("application/vnd.api+json")) {
    throw new Error(`not JSON:API: ${headers.get("content-type")}`);
  }
  return body.errors.map((error: Record<string, unknown>) => {
    if (error.status !== String(status))
      throw new Error(`status ${error.status} in a response ${status}`);
    if (typeof error.title !== "string" || typeof error.detail !== "string") {
      throw new Error(`an error without a text: ${JSON.stringify(error)}`);
    }
    return error.detail;
  });
}

/** Returns the `detail` of each error of a response, keyed by the error's `pointer`. */
export const problems = (answer: Answer): Record<string, string> => {
  errorDetails(answer);
  return Object.fromEntries(
    answer.body.errors.map(
      ({ source, detail }: { source?: { pointer: string }; detail: string }) => [
        source?.pointer ?? "",
        detail,
      ],
    ),
  );
};

/** Returns the names in a list response. */
export const namesOf = ({ body }: Answer): string[] =>
  body.data.map(({ attributes }: { attributes: { name: string } }) => attributes.name);
