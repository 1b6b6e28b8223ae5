import { create } from "@bufbuild/protobuf";
import type { Caller, Principal } from "@statehouse/authorization";
import { GrantsSchema } from "@statehouse/proto/statehouse/access/v1/grants";
import { createCallers, grantsFromProto } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import { getGrants } from "../app/grants.ts";
import { grantsToProto } from "./grants.ts";

/** What every method gets beside its request. */
export interface Context {
  caller: Caller;
}

/** Makes the context of a principal, its grants read from our own tables and kept by version. */
export function contextOf(app: App): (principal: Principal) => Promise<Context> {
  const callerOf = createCallers(async ({ type, id }) =>
    grantsFromProto(
      create(GrantsSchema, grantsToProto({ type, id }, await getGrants(app, { type, id }))),
    ),
  );
  return async (principal) => ({ caller: await callerOf(principal) });
}
