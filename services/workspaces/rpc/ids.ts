import {
  agentPoolNotFound,
  projectNotFound,
  reservedTagKeyNotFound,
  runNotFound,
  sshKeyNotFound,
  tagNotFound,
  workspaceNotFound,
} from "../domain/errors.ts";
import type {
  AgentPoolId,
  ConfigurationVersionId,
  ProjectId,
  ReservedTagKeyId,
  RunId,
  SshKeyId,
  TagId,
  WorkspaceId,
} from "../domain/ids.ts";

const form = /^[a-z]+-[A-Za-z0-9]{1,64}$/;

const is = <Id extends string>(prefix: string, text: string): text is Id =>
  text.startsWith(`${prefix}-`) && form.test(text);

/** Throws `notFound`: a text that is not an id cannot identify a row. */
export function workspaceId(text: string): WorkspaceId {
  if (!is<WorkspaceId>("ws", text)) throw workspaceNotFound();
  return text;
}

/** Throws `notFound`. */
export function projectId(text: string): ProjectId {
  if (!is<ProjectId>("prj", text)) throw projectNotFound();
  return text;
}

/** Throws `notFound`. */
export function tagId(text: string): TagId {
  if (!is<TagId>("tag", text)) throw tagNotFound();
  return text;
}

/** Throws `notFound`. */
export function runId(text: string): RunId {
  if (!isRunId(text)) throw runNotFound();
  return text;
}

/** Whether a text has the form of a run's id. */
export const isRunId = (text: string): text is RunId => is<RunId>("run", text);

/** Whether a text has the form of a configuration version's id. */
export const isConfigurationVersionId = (text: string): text is ConfigurationVersionId =>
  is<ConfigurationVersionId>("cv", text);

/** Throws `notFound`. */
export function agentPoolId(text: string): AgentPoolId {
  if (!is<AgentPoolId>("apool", text)) throw agentPoolNotFound();
  return text;
}

/** Throws `notFound`. */
export function reservedTagKeyId(text: string): ReservedTagKeyId {
  if (!is<ReservedTagKeyId>("rtk", text)) throw reservedTagKeyNotFound();
  return text;
}

/** Throws `notFound`. */
export function sshKeyId(text: string): SshKeyId {
  if (!is<SshKeyId>("sshkey", text)) throw sshKeyNotFound();
  return text;
}

/** In a request in which the empty text means none. Whether the pool exists is checked later. */
export const optionalAgentPoolId = (text: string | undefined): AgentPoolId | null | undefined =>
  text === "" ? null : (text as AgentPoolId | undefined);

/** Those with the form of an id. */
export const idsIn = (texts: readonly string[]): string[] =>
  texts.filter((text) => form.test(text));
