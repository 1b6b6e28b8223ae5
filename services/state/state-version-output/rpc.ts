import type { MessageInitShape } from "@bufbuild/protobuf";
import { idsIn } from "@statehouse/postgres/ids";
import { pageOf } from "@statehouse/postgres/paging";
import type {
  StateVersionOutputSchema,
  StateVersionOutputService,
} from "@statehouse/proto/statehouse/state/v1/state_version_output";
import type { ServiceImpl } from "@statehouse/rpc";
import type { App } from "../app.ts";
import { outputId, stateVersionId, workspaceId } from "../ids-rpc.ts";
import { wholeOrPageOf } from "../page-rpc.ts";
import {
  batchListCurrentOutputs,
  batchListStateVersionOutputs,
  getStateVersionOutput,
  listCurrentOutputs,
  listStateVersionOutputs,
} from "./app.ts";
import type { StateVersionOutput } from "./domain.ts";

export const stateVersionOutputService = (
  app: App,
): ServiceImpl<typeof StateVersionOutputService> => ({
  listStateVersionOutputs: async ({ stateVersionId: id, ...page }, { caller }) => {
    const { rows, total } = await listStateVersionOutputs(app, caller, {
      stateVersionId: stateVersionId(id),
      page: pageOf(page),
    });
    return { outputs: rows.map(outputToProto), totalCount: total };
  },
  getStateVersionOutput: async ({ id }, { caller }) => ({
    output: outputToProto(await getStateVersionOutput(app, caller, outputId(id))),
  }),
  listCurrentOutputs: async ({ workspaceId: id, ...page }, { caller }) => {
    const { rows, total } = await listCurrentOutputs(app, caller, {
      workspaceId: workspaceId(id),
      page: wholeOrPageOf(page),
    });
    return { outputs: rows.map(outputToProto), totalCount: total };
  },
  batchListStateVersionOutputs: async ({ stateVersionIds }, { caller }) => {
    const outputs = await batchListStateVersionOutputs(app, caller, idsIn("sv", stateVersionIds));
    return { outputs: outputs.map(outputToProto) };
  },
  batchListCurrentOutputs: async ({ workspaceIds }, { caller }) => {
    const outputs = await batchListCurrentOutputs(app, caller, idsIn("ws", workspaceIds));
    return { outputs: outputs.map(outputToProto) };
  },
});

const outputToProto = (
  output: StateVersionOutput,
): MessageInitShape<typeof StateVersionOutputSchema> => ({
  ...output,
  valueJson: output.valueJson ?? undefined,
});
