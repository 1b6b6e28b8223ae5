import { permissionValues, workspacePermissionValues } from "@statehouse/authorization";
import { type Api, document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { expectStatus } from "../stack/state.ts";
import { newParty, newProject, newWorkspace, recordedApi, type World } from "./fixture.ts";

/** What somebody holds: organization-level permissions of a team, and a grant on a project or workspace. */
interface Role {
  organizationAccess?: string;
  /** Attributes of a grant. */
  project?: Record<string, unknown>;
  workspace?: Record<string, unknown>;
}

/** A permission's own object, as a body holds it: "workspace-access.create" inside "workspace-access". */
const nested = (name: string, value: unknown): Record<string, unknown> =>
  name.split(".").reduceRight<unknown>((inner, part) => ({ [part]: inner }), value) as Record<
    string,
    unknown
  >;

/** Custom grants with one permission each, at each of its values but the weakest. */
const singles = (kind: "project" | "workspace", values: Record<string, readonly unknown[]>) =>
  Object.entries(values).flatMap(([permission, known]) =>
    known
      .slice(1)
      .map((value): [string, Role] => [
        `${kind} custom, ${permission} ${value}`,
        { [kind]: { access: "custom", ...nested(permission, value) } },
      ]),
  );

const levels = (kind: "project" | "workspace", names: readonly string[]) =>
  names.map((access): [string, Role] => [`${kind} ${access}`, { [kind]: { access } }]);

const organizationAccess = [
  "manage-workspaces",
  "read-workspaces",
  "manage-projects",
  "read-projects",
  "manage-vcs-settings",
  "manage-membership",
  "manage-teams",
  "manage-organization-access",
  "access-secret-teams",
  "manage-agent-pools",
];

/** Every role that a team can have, by what it is called. */
export const roles: ReadonlyMap<string, Role> = new Map<string, Role>([
  ...organizationAccess.map((name): [string, Role] => [name, { organizationAccess: name }]),
  ...levels("project", ["read", "write", "maintain", "admin", "custom"]),
  ...singles("project", permissionValues),
  ...levels("workspace", ["read", "plan", "write", "admin", "custom"]),
  ...singles("workspace", workspacePermissionValues),
  ["member", {}],
]);

/** Somebody with the things that they are granted; all of it is the owner's. */
export interface Actor {
  api: Api;
  organization: string;
  /** As owner of the organization, to prepare what the actor then tries. */
  owner: World["owner"];
  /** Holds the actor's grant, as does every project and workspace made with the functions below. */
  projectId: string;
  project(): Promise<string>;
  workspace(projectId?: string): Promise<string>;
}

const many = (type: string, id: string) => ({ data: { type, id } });

/** An actor in the world's organization, whose projects and workspaces `grant` says what to give for. */
async function actorWith(
  world: World,
  api: Api,
  grant: (kind: "project" | "workspace", id: string) => Promise<void>,
): Promise<Actor> {
  const { organization, owner } = world;
  const project = async () => {
    const { id } = await newProject(world);
    await grant("project", id);
    return id;
  };
  const projectId = await project();
  return {
    api,
    organization,
    owner,
    projectId,
    project,
    async workspace(into = projectId) {
      const { id } = await newWorkspace(world, {}, into);
      await grant("workspace", id);
      return id;
    },
  };
}

const nothing = async () => {};

/** An actor whose team can be given more. */
interface Member extends Actor {
  grant(
    kind: "project" | "workspace",
    id: string,
    attributes: Record<string, unknown>,
  ): Promise<void>;
}

/** A new member of the organization with that role. */
export async function newActor(
  world: World,
  { organizationAccess, ...grants }: Role,
): Promise<Member> {
  const { organization, owner, stack } = world;
  const party = await newParty(stack);
  const base = `/organizations/${organization}`;
  const access = organizationAccess ? { [organizationAccess]: true } : {};
  const team = await expectStatus(
    201,
    owner.api.post(
      `${base}/teams`,
      document("teams", { name: unusedName("actors"), "organization-access": access }),
    ),
  );
  const { id: teamId } = team.body.data;
  const invited = await expectStatus(
    201,
    owner.api.post(
      `${base}/organization-memberships`,
      document(
        "organization-memberships",
        { email: `${party.username}@example.com` },
        { teams: { data: [{ type: "teams", id: teamId }] } },
      ),
    ),
  );
  const membership = `/organization-memberships/${invited.body.data.id}`;
  await expectStatus(200, party.api.post(`${membership}/actions/accept`));
  const grant: Member["grant"] = async (kind, id, attributes) => {
    const relationships = { team: many("teams", teamId), [kind]: many(`${kind}s`, id) };
    const type = `team-${kind}s`;
    await expectStatus(200, owner.api.post(`/${type}`, document(type, attributes, relationships)));
  };
  const actor = await actorWith(world, party.api, async (kind, id) => {
    const attributes = grants[kind];
    if (attributes) await grant(kind, id, attributes);
  });
  return { ...actor, grant };
}

/** The organization's own token. */
export async function organizationTokenActor(world: World): Promise<Actor> {
  const path = `/organizations/${world.organization}/authentication-token`;
  const { body } = await expectStatus(201, world.owner.api.post(path));
  return actorWith(world, recordedApi(world.url, body.data.attributes.token), nothing);
}

/** Anybody else, as they are: an owner, a stranger. */
export const plainActor = (world: World, { api }: { api: Api }): Promise<Actor> =>
  actorWith(world, api, nothing);
