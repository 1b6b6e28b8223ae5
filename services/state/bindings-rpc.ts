import { BackingDataService } from "@statehouse/proto/statehouse/state/v1/backing_data";
import { RetentionService } from "@statehouse/proto/statehouse/state/v1/retention";
import { StateVersionService } from "@statehouse/proto/statehouse/state/v1/state_version";
import { StateVersionOutputService } from "@statehouse/proto/statehouse/state/v1/state_version_output";
import { WorkspaceResourceService } from "@statehouse/proto/statehouse/state/v1/workspace_resource";
import { WorkspaceStateService } from "@statehouse/proto/statehouse/state/v1/workspace_state";
import { implement, type ServiceBinding } from "@statehouse/rpc";
import type { App } from "./app.ts";
import { backingDataService } from "./backing-data/rpc.ts";
import { retentionService } from "./retention/rpc.ts";
import { stateVersionService } from "./state-version/rpc.ts";
import { stateVersionOutputService } from "./state-version-output/rpc.ts";
import { workspaceResourceService } from "./workspace-resource/rpc.ts";
import { workspaceStateService } from "./workspace-state/rpc.ts";

/** All gRPC services of the state service. */
export const bindings = (app: App): ServiceBinding[] => [
  implement(StateVersionService, stateVersionService(app)),
  implement(BackingDataService, backingDataService(app)),
  implement(StateVersionOutputService, stateVersionOutputService(app)),
  implement(WorkspaceResourceService, workspaceResourceService(app)),
  implement(RetentionService, retentionService(app)),
  implement(WorkspaceStateService, workspaceStateService(app)),
];
