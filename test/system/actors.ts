import type { Api } from "../stack/http.ts";
import { organizationId } from "../stack/organization.ts";
import { giveRole, newRoleHolder, type RoleTarget, type TeamRole } from "../stack/roles.ts";
import { expectStatus } from "../stack/state.ts";
import { type Fixture, newProject, newWorkspace, recordedApi } from "./fixture.ts";

/** A caller and the objects on which it has its role. */
export interface Actor extends Pick<Fixture, "organization" | "owner" | "stack"> {
  api: Api;
  /**
   * A project on which the actor has its role. The functions below create more projects and workspaces on which the
   * actor has its role.
   */
  projectId: string;
  project(): Promise<string>;
  workspace(projectId?: string): Promise<string>;
}

/**
 * Creates an actor in the fixture's organization. `give` grants the actor's role on each object that is created for the
 * actor.
 */
async function actorWith(
  fixture: Fixture,
  api: Api,
  give: (target: RoleTarget) => Promise<unknown>,
): Promise<Actor> {
  const { organization, owner, stack } = fixture;
  const project = async () => {
    const { id } = await newProject(fixture);
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
      const { id } = await newWorkspace(fixture, {}, into);
      await give({ workspaceId: id });
      return id;
    },
  };
}

const nothing = async () => {};

/** Creates a user who belongs to the organization through a single team, which has the role `role`. */
export async function newActor(fixture: Fixture, role: TeamRole): Promise<Actor> {
  const { stack, owner, organization, url } = fixture;
  const roles = { stack, owner, organizationId: await organizationId(stack, organization) };
  const holder = await newRoleHolder(roles, role, {});
  return actorWith(fixture, recordedApi(url, holder.person.token), (target) =>
    giveRole(roles, holder, target),
  );
}

/** Creates an actor that uses the organization's token. */
export async function organizationTokenActor(fixture: Fixture): Promise<Actor> {
  const path = `/organizations/${fixture.organization}/authentication-token`;
  const { body } = await expectStatus(201, fixture.owner.api.post(path));
  return actorWith(fixture, recordedApi(fixture.url, body.data.attributes.token), nothing);
}

/** Creates an actor for an existing caller, such as an owner or a user without access. The caller receives no role. */
export const plainActor = (fixture: Fixture, { api }: { api: Api }): Promise<Actor> =>
  actorWith(fixture, api, nothing);
