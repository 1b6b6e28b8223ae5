import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  StateVersionOutputSchema,
  StateVersionOutputService,
} from "@statehouse/proto/statehouse/state/v1/state_version_output";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app/app.ts";
import {
  batchListCurrentOutputs,
  batchListStateVersionOutputs,
  getStateVersionOutput,
  listCurrentOutputs,
  listStateVersionOutputs,
} from "../app/state-version-output.ts";
import { isStateVersionId, isWorkspaceId } from "../domain/ids.ts";
import type { StateVersionOutput } from "../domain/state-version-output.ts";
import type { Context } from "./context.ts";
import { outputIdOf, stateVersionIdOf, workspaceIdOf } from "./ids.ts";
import { sliceOf, wholeOrSliceOf } from "./page.ts";

export const stateVersionOutputService = (
  app: App,
): ServiceImpl<typeof StateVersionOutputService, Context> => ({
  listStateVersionOutputs: async ({ stateVersionId, ...page }, { caller }) => {
    const id = stateVersionIdOf(stateVersionId);
    const slice = sliceOf(page);
    const { outputs, total } = await listStateVersionOutputs(app, caller, {
      stateVersionId: id,
      ...slice,
    });
    return { outputs: outputs.map(outputToProto), totalCount: total };
  },
  getStateVersionOutput: async ({ id }, { caller }) => ({
    output: outputToProto(await getStateVersionOutput(app, caller, outputIdOf(id))),
  }),
  listCurrentOutputs: async ({ workspaceId, ...page }, { caller }) => {
    const { outputs, total } = await listCurrentOutputs(app, caller, {
      workspaceId: workspaceIdOf(workspaceId),
      ...wholeOrSliceOf(page),
    });
    return { outputs: outputs.map(outputToProto), totalCount: total };
  },
  batchListStateVersionOutputs: async ({ stateVersionIds }, { caller }) => {
    const ids = stateVersionIds.filter(isStateVersionId);
    const outputs = await batchListStateVersionOutputs(app, caller, ids);
    return { outputs: outputs.map(outputToProto) };
  },
  batchListCurrentOutputs: async ({ workspaceIds }, { caller }) => {
    const outputs = await batchListCurrentOutputs(app, caller, workspaceIds.filter(isWorkspaceId));
    return { outputs: outputs.map(outputToProto) };
  },
});

const outputToProto = (
  output: StateVersionOutput,
): MessageInitShape<typeof StateVersionOutputSchema> => ({
  ...output,
  valueJson: output.valueJson ?? undefined,
});
