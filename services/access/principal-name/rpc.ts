import type { PrincipalNameService } from "@statehouse/proto/statehouse/access/v1/principal_name";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { getPrincipalName } from "./app.ts";

export const principalNameService = (app: App): ServiceImpl<typeof PrincipalNameService> => ({
  getPrincipalName: async ({ type, id }) => ({ name: await getPrincipalName(app, { type, id }) }),
});
