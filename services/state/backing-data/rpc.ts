import type { BackingDataService } from "@statehouse/proto/statehouse/state/v1/backing_data";
import type { CallContext, ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { stateVersionId } from "../ids-rpc.ts";
import { stateVersionToProto } from "../state-version/rpc.ts";
import { permanentlyDeleteBackingData, restoreBackingData, softDeleteBackingData } from "./app.ts";

export const backingDataService = (app: App): ServiceImpl<typeof BackingDataService> => {
  const method =
    (action: typeof softDeleteBackingData) =>
    async (request: { stateVersionId: string }, { caller }: CallContext) => ({
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
