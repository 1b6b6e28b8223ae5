import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { GrantsSchema, type GrantsService } from "@statehouse/proto/statehouse/access/v1/grants";
import { type GrantsLoader, grantsFromProto, type ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { getGrants } from "../app/grants.ts";
import type { PrincipalGrants } from "../domain/grants.ts";
import type { Context } from "./context.ts";

export const grantsService = (app: App): ServiceImpl<typeof GrantsService, Context> => ({
  getGrants: async ({ principalType: type, principalId: id }) => ({
    grants: grantsToProto({ type, id }, await getGrants(app, { type, id })),
  }),
});

/** Loads a principal's grants from the tables of this service. */
export const loadGrants =
  (app: App): GrantsLoader =>
  async ({ type, id }) =>
    grantsFromProto(
      create(GrantsSchema, grantsToProto({ type, id }, await getGrants(app, { type, id }))),
    );

const grantsToProto = (
  { type, id }: { type: string; id: string },
  { versions, administrator, organizations }: PrincipalGrants,
): MessageInitShape<typeof GrantsSchema> => ({
  principalType: type,
  principalId: id,
  versions,
  administrator,
  organizations: organizations.map(({ projects, workspaces, ...organization }) => ({
    ...organization,
    projects: projects.map((grant) => ({ ...grant, permissions: inTexts(grant.permissions) })),
    workspaces: workspaces.map((grant) => ({ ...grant, permissions: inTexts(grant.permissions) })),
  })),
});

/** Booleans travel as `true` and `false`. */
const inTexts = (permissions: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(permissions).map(([name, value]) => [name, String(value)]));
