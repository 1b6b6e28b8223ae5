import type { BackingDataService } from "@statehouse/proto/statehouse/state/v1/backing_data";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  permanentlyDeleteBackingData,
  restoreBackingData,
  softDeleteBackingData,
} from "../app/backing-data.ts";
import type { Context } from "./context.ts";
import { stateVersionIdOf } from "./ids.ts";
import { stateVersionToProto } from "./state-version.ts";

export const backingDataService = (app: App): ServiceImpl<typeof BackingDataService, Context> => {
  const after =
    (action: typeof softDeleteBackingData) =>
    async ({ stateVersionId }: { stateVersionId: string }, { caller }: Context) => ({
      stateVersion: stateVersionToProto(
        await action(app, caller, stateVersionIdOf(stateVersionId)),
      ),
    });
  return {
    softDeleteBackingData: after(softDeleteBackingData),
    restoreBackingData: after(restoreBackingData),
    permanentlyDeleteBackingData: after(permanentlyDeleteBackingData),
  };
};
