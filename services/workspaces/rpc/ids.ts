import type { AppError } from "@statehouse/errors";
import { isId } from "@statehouse/postgres/ids";
import { agentPoolNotFound } from "../domain/agent-pool.ts";
import type { AgentPoolId } from "../domain/ids.ts";
import { organizationNotFound } from "../domain/organization.ts";
import { projectNotFound } from "../domain/project.ts";
import { runNotFound } from "../domain/run.ts";
import { workspaceNotFound } from "../domain/workspace.ts";

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
