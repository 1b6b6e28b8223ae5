import { RunLockService } from "@statehouse/proto/statehouse/runs/v1/run_lock";
import { RunTokenService } from "@statehouse/proto/statehouse/runs/v1/run_token";
import { type CallOptions, type Channel, type Client, createClient } from "@statehouse/rpc";
import { createRunner, type Runner } from "@statehouse/rpc/testing";

/** The runners whose keys are configured in tests. */
export const runnerNames = ["runner", "runner-other"] as const;
export type RunnerName = (typeof runnerNames)[number];

/** Clients of the methods that runners call. */
export interface RunnerCalls {
  tokens: Client<typeof RunTokenService>;
  locks: Client<typeof RunLockService>;
  reports: Runner;
}

export const createRunnerCalls = (
  { access, workspaces }: { access: Channel; workspaces: Channel },
  identity: CallOptions,
): RunnerCalls => ({
  tokens: createClient(RunTokenService, access, identity),
  locks: createClient(RunLockService, workspaces, identity),
  reports: createRunner(workspaces, identity),
});
