import type { Api } from "../stack/http.ts";
import { organizationId } from "../stack/organization.ts";
import { giveRole, newRoleHolder, type RolePlace, type TeamRole } from "../stack/roles.ts";
import { expectStatus } from "../stack/state.ts";
import { newProject, newWorkspace, recordedApi, type World } from "./fixture.ts";

/** A user and the objects of the user's grants; everything belongs to the owner. */
export interface Actor extends Pick<World, "organization" | "owner" | "stack"> {
  api: Api;
  /** Holds the actor's grant, as does every project and workspace created with the functions below. */
  projectId: string;
  project(): Promise<string>;
  workspace(projectId?: string): Promise<string>;
}

/** An actor in the fixture's organization, to whom `give` gives the role on its targets. */
async function actorWith(
  world: World,
  api: Api,
  give: (place: RolePlace) => Promise<unknown>,
): Promise<Actor> {
  const { organization, owner, stack } = world;
  const project = async () => {
    const { id } = await newProject(world);
    await give({ projectId: id });
    return id;
  };
  const projectId = await project();
  return {
    api,
    organization,
    owner,
    stack,
    projectId,
    project,
    async workspace(into = projectId) {
      const { id } = await newWorkspace(world, {}, into);
      await give({ workspaceId: id });
      return id;
    },
  };
}

const nothing = async () => {};

/** A new member of the organization, whose only team has that role. */
export async function newActor(world: World, role: TeamRole): Promise<Actor> {
  const { stack, owner, organization, url } = world;
  const site = { stack, owner, organizationId: await organizationId(stack, organization) };
  const holder = await newRoleHolder(site, role, {});
  return actorWith(world, recordedApi(url, holder.person.token), (place) =>
    giveRole(site, holder, place),
  );
}

/** The organization's own token. */
export async function organizationTokenActor(world: World): Promise<Actor> {
  const path = `/organizations/${world.organization}/authentication-token`;
  const { body } = await expectStatus(201, world.owner.api.post(path));
  return actorWith(world, recordedApi(world.url, body.data.attributes.token), nothing);
}

/** Any other caller unchanged: an owner, a user without access. */
export const plainActor = (world: World, { api }: { api: Api }): Promise<Actor> =>
  actorWith(world, api, nothing);
