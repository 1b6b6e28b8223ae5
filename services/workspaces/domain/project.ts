import { takenText } from "./errors.ts";
import type { ExecutionMode } from "./execution-mode.ts";
import type { AgentPoolId, OrganizationId, ProjectId } from "./ids.ts";
import { Problems } from "./problems.ts";
import { holdsNul } from "./text.ts";
import { nextVersion } from "./version.ts";

export class Project {
  declare id: ProjectId;
  declare organizationId: OrganizationId;
  declare name: string;
  declare description: string | null;
  /** Its own; null: the organization's. */
  declare defaultExecutionMode: ExecutionMode | null;
  /** Set exactly while its own mode is `agent`. */
  declare defaultAgentPoolId: AgentPoolId | null;
  declare revision: bigint;
  declare createdAt: Date;
  declare updatedAt: Date;

  constructor(fields: Fields) {
    Object.assign(this, fields);
  }
}

type Fields = { [Name in keyof Project]: Project[Name] };

export interface NewProject {
  id: ProjectId;
  organizationId: OrganizationId;
  name: string;
  description: string | null;
}

/** The name of the project that every organization has from the start. */
export const DEFAULT_PROJECT_NAME = "Default Project";

const CHARACTERS = /^[A-Za-z0-9 _-]+$/;
const MIN_LENGTH = 3;
const MAX_LENGTH = 40;

/** Whether a project can have this name at all. */
export const isProjectName = (name: string): boolean => problemOfName(name) === undefined;

/** A new project; `problems` gets what is wrong with it. */
export function newProject(
  wanted: NewProject,
  { nameTaken, problems }: { nameTaken: boolean; problems: Problems },
  now: Date,
): Project {
  const problem = problemOfName(wanted.name) ?? (nameTaken ? takenText : undefined);
  if (problem !== undefined) problems.add("name", problem);
  if (wanted.description !== null && holdsNul(wanted.description)) {
    problems.add("description", "Description is invalid");
  }
  return new Project({
    ...wanted,
    defaultExecutionMode: null,
    defaultAgentPoolId: null,
    revision: nextVersion(0n, now),
    createdAt: now,
    updatedAt: now,
  });
}

/** The project that an organization starts with. */
export const defaultProject = (id: ProjectId, organizationId: OrganizationId, now: Date): Project =>
  newProject(
    { id, organizationId, name: DEFAULT_PROJECT_NAME, description: null },
    { nameTaken: false, problems: new Problems() },
    now,
  );

function problemOfName(name: string): string | undefined {
  if (name === "") return "Name can't be blank";
  if (!CHARACTERS.test(name) || name.trim() !== name) return "Name is invalid";
  if (name.length < MIN_LENGTH) return `Name is too short (minimum is ${MIN_LENGTH} characters)`;
  if (name.length > MAX_LENGTH) return `Name is too long (maximum is ${MAX_LENGTH} characters)`;
  return undefined;
}
