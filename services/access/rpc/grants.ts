import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GrantsSchema, GrantsService } from "@statehouse/proto/statehouse/access/v1/grants";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { getGrants } from "../app/grants.ts";
import type { UserGrants } from "../domain/grants.ts";
import type { Context } from "./context.ts";

export const grantsService = (app: App): ServiceImpl<typeof GrantsService, Context> => ({
  getGrants: async ({ principalType: type, principalId: id }) => ({
    grants: grantsToProto({ type, id }, await getGrants(app, { type, id })),
  }),
});

export const grantsToProto = (
  { type, id }: { type: string; id: string },
  { versions, administrator, organizations }: UserGrants,
): MessageInitShape<typeof GrantsSchema> => ({
  principalType: type,
  principalId: id,
  versions,
  administrator,
  organizations,
});
