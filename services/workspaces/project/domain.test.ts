import { AppError, Problems } from "@statehouse/errors";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { applyProjectSettings, newProject, type ProjectSettings } from "./domain.ts";

const invalidName =
  "Name may only contain letters, digits, spaces, hyphens and underscores, and no space at its ends";
function problemsOf(name: string): string[] {
  const problems = new Problems();
  const project = newProject("prj-1", "org-1", new Date());
  applyProjectSettings(project, { name }, { problems });
  try {
    problems.throwIfAny();
  } catch (error) {
    if (error instanceof AppError) return error.fields.map(({ detail }) => detail);
    throw error;
  }
  return [];
}

test.each(["abc", "Default Project", "a-b_c 9", "a".repeat(40)])("%s is accepted", (name) => {
  proves("Projects/names");
  expect(problemsOf(name)).toEqual([]);
});

test.each([
  ["", "Name can't be blank"],
  ["ab", "Name is too short (minimum is 3 characters)"],
  ["a".repeat(41), "Name is too long (maximum is 40 characters)"],
  ["a/b", invalidName],
  ["prójekt", invalidName],
  ["a.b", invalidName],
  [" abc", invalidName],
  ["abc ", invalidName],
])("%j is refused: %s", (name, problem) => {
  proves("Workspace limits/project name up to 40 characters", "Projects/names");
  expect(problemsOf(name)).toEqual([problem]);
});

const pool = "apool-1234567890123456";

test.each<[string, ProjectSettings[], unknown]>([
  ["nothing given", [{}], [null, null]],
  ["its own mode", [{ defaultExecutionMode: "remote" }], ["remote", null]],
  [
    "agent with its pool",
    [{ defaultExecutionMode: "agent", defaultAgentPoolId: pool }],
    ["agent", pool],
  ],
  [
    "the mode of the organization again",
    [
      { defaultExecutionMode: "agent", defaultAgentPoolId: pool },
      { overwritesDefaultExecutionMode: false },
    ],
    [null, null],
  ],
  [
    "leaving agent",
    [
      { defaultExecutionMode: "agent", defaultAgentPoolId: pool },
      { defaultExecutionMode: "local" },
    ],
    ["local", null],
  ],
  [
    "an override without a mode",
    [{ overwritesDefaultExecutionMode: true }],
    "Default execution mode must be given when setting-overwrites.default-execution-mode is true",
  ],
  [
    "two overrides that differ",
    [
      {
        overwritesDefaultExecutionMode: true,
        overwritesDefaultAgentPool: false,
        defaultExecutionMode: "local",
      },
    ],
    "If agent-pool and execution-mode are both included in setting-overwrites, their values must be the same.",
  ],
  ["a description that no column stores", [{ description: "a\0b" }], "Description is invalid"],
])("%s", (_, requests, expected) => {
  const problems = new Problems();
  const project = newProject("prj-1", "org-1", new Date());
  project.name = "project";
  for (const settings of requests) {
    applyProjectSettings(project, settings, { problems, poolKnown: true });
  }
  const outcome = () => {
    problems.throwIfAny();
    return [project.defaultExecutionMode, project.defaultAgentPoolId];
  };
  if (typeof expected === "string") expect(outcome).toThrow(expected);
  else expect(outcome()).toEqual(expected);
});
