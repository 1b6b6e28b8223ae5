import type { BackingDataService } from "@statehouse/proto/statehouse/state/v1/backing_data";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  permanentlyDeleteBackingData,
  restoreBackingData,
  softDeleteBackingData,
} from "../app/backing-data.ts";
import type { Context } from "./context.ts";
import { stateVersionId } from "./ids.ts";
import { stateVersionToProto } from "./state-version.ts";

export const backingDataService = (app: App): ServiceImpl<typeof BackingDataService, Context> => {
  const method =
    (action: typeof softDeleteBackingData) =>
    async (request: { stateVersionId: string }, { caller }: Context) => ({
      stateVersion: stateVersionToProto(
        await action(app, caller, stateVersionId(request.stateVersionId)),
      ),
    });
  return {
    softDeleteBackingData: method(softDeleteBackingData),
    restoreBackingData: method(restoreBackingData),
    permanentlyDeleteBackingData: method(permanentlyDeleteBackingData),
  };
};
