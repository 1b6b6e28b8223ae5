import type { AppError } from "@statehouse/errors";
import { isId } from "@statehouse/postgres/ids";
import { agentPoolNotFound } from "./agent-pool/domain.ts";
import type { AgentPoolId } from "./ids-domain.ts";
import { organizationNotFound } from "./organization/domain.ts";
import { projectNotFound } from "./project/domain.ts";
import { runNotFound } from "./run/domain.ts";
import { workspaceNotFound } from "./workspace/domain.ts";

/**
 * Creates the function that checks the form of an id. It throws the error that `missing` creates if a string does not
 * have the form of an id.
 */
export const idParser =
  <Prefix extends string>(prefix: Prefix, missing: () => AppError) =>
  (text: string): `${Prefix}-${string}` => {
    if (!isId(prefix, text)) throw missing();
    return text;
  };

export const agentPoolId = idParser("apool", agentPoolNotFound);
export const organizationId = idParser("org", organizationNotFound);
export const projectId = idParser("prj", projectNotFound);
export const runId = idParser("run", runNotFound);
export const workspaceId = idParser("ws", workspaceNotFound);

/** Converts an agent pool id of a request. An empty string means no pool. Whether the pool exists is checked later. */
export const optionalAgentPoolId = (text: string | undefined): AgentPoolId | null | undefined =>
  text === "" ? null : (text as AgentPoolId | undefined);
