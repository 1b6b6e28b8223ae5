import { AppError, Problems } from "@statehouse/errors";
import { expect, test } from "vitest";
import {
  applyOrganizationSettings,
  beginOrganizationDeletion,
  isOrganizationName,
  newOrganization,
  type OrganizationSettings,
  problemOfOrganizationName,
} from "./domain.ts";

const now = new Date("2026-01-01T00:00:00Z");
const organization = () =>
  newOrganization(
    {
      id: "org-1234567890123456",
      defaultProjectId: "prj-1234567890123456",
      creatorUserId: "user-1",
      defaultExecutionMode: "local",
      name: "acme",
      settings: { email: "owner@example.com" },
    },
    now,
  );

function problemsOf(settings: OrganizationSettings, poolKnown = true): Record<string, string> {
  const problems = new Problems();
  applyOrganizationSettings(organization(), settings, { problems, poolKnown });
  try {
    problems.throwIfAny();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return Object.fromEntries(error.fields.map(({ field, detail }) => [field, detail]));
  }
  return {};
}

test("a new organization has every default and the highest plan", () => {
  expect(organization()).toMatchObject({
    status: "provisioning",
    defaultExecutionMode: "local",
    allowForceDeleteWorkspaces: false,
    assessmentsEnforced: false,
    userTokensEnabled: true,
    maxTtlEnabled: false,
    collaboratorAuthPolicy: "password",
    plan: "premium",
    sessionTimeout: null,
  });
});

test("given settings are changed, absent ones keep their value", () => {
  const changed = organization();
  const input = { allowForceDeleteWorkspaces: true, sessionTimeout: 30, userTokensEnabled: false };
  applyOrganizationSettings(changed, input, { problems: new Problems() });
  expect(changed).toMatchObject({
    ...input,
    assessmentsEnforced: false,
    email: "owner@example.com",
  });
});

test.each([
  [{ email: "" }, { email: "Email can't be blank" }],
  [{ email: "nobody" }, { email: "Email is invalid" }],
  [
    { collaboratorAuthPolicy: "none" },
    { collaboratorAuthPolicy: "Collaborator auth policy is invalid" },
  ],
  [{ sessionTimeout: 0 }, { sessionTimeout: "Session timeout must be above 0" }],
  [{ sessionRemember: 0 }, { sessionRemember: "Session remember must be above 0" }],
  [
    { ownersTeamSamlRoleId: "a\0b" },
    { ownersTeamSamlRoleId: "Owners team saml role id is invalid" },
  ],
  [{ collaboratorAuthPolicy: "two_factor_mandatory", sessionTimeout: 1 }, {}],
])("%j has the problems %j", (settings, expected) => {
  expect(problemsOf(settings)).toEqual(expected);
});

test.each(["ab", "a b c", "ünïcode", "a\0bc", "a".repeat(10_000)])(
  "%j is not a valid name",
  (name) => {
    expect(problemOfOrganizationName(name)).toBe("Name is invalid");
  },
);

test("a default pool must belong to the organization", () => {
  const settings = {
    defaultExecutionMode: "agent",
    defaultAgentPoolId: "apool-1234567890123456",
  } as const;
  expect(problemsOf(settings)).toEqual({});
  expect(problemsOf(settings, false)).toEqual({
    defaultAgentPoolId: "Default agent pool is invalid",
  });
});

test("an organization that is being deleted is renamed to a name that no request can contain", () => {
  const deleted = organization();
  const { revision } = deleted;
  beginOrganizationDeletion(deleted, now);
  expect(deleted.status).toBe("deleting");
  expect(isOrganizationName(deleted.name)).toBe(false);
  expect(deleted.revision).toBeGreaterThan(revision);
});
