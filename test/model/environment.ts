import { type Api, api, document } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import type { Person } from "../stack/people.ts";
import type { Stack } from "../stack/stack.ts";
import { expectStatus } from "../stack/state.ts";

export interface Member extends Person {
  api: Api;
}

/** The stack and the users with which histories run. */
export interface Environment {
  /** The base URL at which the stack serves state bytes. */
  readonly publicUrl: string;
  readonly organization: string;
  /** Two owners of the organization. */
  readonly clients: readonly [Member, Member];
  /** A user of another organization. */
  readonly intruder: Member;
  /**
   * Whether the edition is hosted: histories then create snapshots, and actions on backing data and retention policies
   * are refused.
   */
  readonly hosted: boolean;
  /** Runs statements directly on the state service's database. */
  query<Row extends object>(sql: string, params?: readonly unknown[]): Promise<Row[]>;
  /** The numbers of histories and commands so far. */
  readonly count: { histories: number; commands: number };
}

export interface EnvironmentOptions {
  hosted?: boolean;
  /** The owner and the organization to use. Default: a new user with a new organization. */
  owned?: { owner: Member; organization: string };
}

/** Creates the users in a running stack, and the connection to the state service's database. */
export async function openEnvironment(
  stack: Stack,
  { hosted = false, owned }: EnvironmentOptions = {},
): Promise<Environment> {
  const member = async (): Promise<Member> => {
    const person = await stack.people.newUser();
    return { ...person, api: api(stack.url, person.token) };
  };
  const first = owned?.owner ?? (await member());
  const [second, intruder] = [await member(), await member()];
  const organization = owned?.organization ?? (await newOrganization(first.api));
  await newOrganization(intruder.api);
  await makeOwner(organization, first, second);
  return {
    publicUrl: (stack.environments.state.PUBLIC_URL ?? stack.url).replace(/\/$/, ""),
    organization,
    clients: [first, second],
    intruder,
    hosted,
    query: (sql, params) => stack.rows("state", sql, params),
    count: { histories: 0, commands: 0 },
  };
}

async function makeOwner(organization: string, owner: Member, guest: Member): Promise<void> {
  const path = `/organizations/${organization}`;
  const found = owner.api.get(`${path}/teams?filter[names]=owners`);
  const owners = (await expectStatus(200, found)).body.data[0].id;
  const invitation = document(
    "organization-memberships",
    { email: `${guest.username}@example.com` },
    { teams: { data: [{ type: "teams", id: owners }] } },
  );
  const invited = owner.api.post(`${path}/organization-memberships`, invitation);
  const { id } = (await expectStatus(201, invited)).body.data;
  await expectStatus(200, guest.api.post(`/organization-memberships/${id}/actions/accept`));
}
