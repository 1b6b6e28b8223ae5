import { WorkspaceLockService } from "@statehouse/proto/statehouse/workspaces/v1/workspace_lock";
import { createRpcServer, type generateAssertionKey, implement } from "@statehouse/rpc";
import { createLogger } from "@statehouse/runtime";

/** Creates a server of the lock service that accepts assertions of the state service. Its methods have no effect. */
export const createLockServer = (
  publicJwk: Awaited<ReturnType<typeof generateAssertionKey>>["publicJwk"],
) =>
  createRpcServer({
    name: "workspaces",
    bindings: [
      implement(WorkspaceLockService, {
        lockWorkspace: async () => ({}),
        unlockWorkspace: async () => ({}),
        forceUnlockWorkspace: async () => ({}),
        getLock: async () => ({}),
        getPlacement: async () => ({}),
        batchGetPlacements: async () => ({}),
      }),
    ],
    keys: { state: [publicJwk] },
    context: async (principal) => ({ principal }),
    logger: createLogger({ service: "workspaces", level: "silent" }),
  });
