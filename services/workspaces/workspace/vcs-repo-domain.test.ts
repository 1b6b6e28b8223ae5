import { AppError, Problems } from "@statehouse/errors";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { changeVcsRepo, type VcsRepo, type VcsRepoSettings } from "./vcs-repo-domain.ts";

const known: VcsRepo = {
  identifier: "acme/network",
  branch: "main",
  ingressSubmodules: true,
  oauthTokenId: "ot-1234567890abcdef",
  appInstallationId: null,
  tagsRegex: "^v",
};
const least = { identifier: "acme/network", oauthTokenId: "ot-1234567890abcdef" };

function change(settings: VcsRepoSettings, previous: VcsRepo | null): VcsRepo | string[] {
  const problems = new Problems();
  const changed = changeVcsRepo(previous, settings, problems);
  try {
    problems.throwIfAny();
  } catch (error) {
    if (error instanceof AppError) return error.fields.map(({ field }) => field);
    throw error;
  }
  return changed;
}

test("a new repository has defaults for everything except identifier and credentials", () => {
  proves("Workspace/vcs-repo.branch", "Workspace/vcs-repo.ingress-submodules");
  expect(change(least, null)).toEqual({
    ...least,
    branch: "",
    ingressSubmodules: false,
    appInstallationId: null,
    tagsRegex: null,
  });
  expect(change({}, null)).toEqual(["vcsRepo.identifier", "vcsRepo.oauthTokenId"]);
  expect(change({ identifier: "a/b", appInstallationId: "ghain-1" }, null)).toMatchObject({
    oauthTokenId: null,
    appInstallationId: "ghain-1",
  });
});

test("an update changes the given settings and keeps all other settings", () => {
  proves("Workspace/vcs-repo");
  expect(change({ branch: "next" }, known)).toEqual({ ...known, branch: "next" });
  expect(change({ branch: "" }, known)).toEqual({ ...known, branch: "" });
  expect(change({}, known)).toEqual(known);
});

test("one kind of credential replaces the other, and both together are refused", () => {
  proves("Workspace/vcs-repo.oauth-token-id", "Workspace/vcs-repo.vcs-app-installation-id");
  const installed = { ...known, oauthTokenId: null, appInstallationId: "ghain-abc" };
  expect(change({ appInstallationId: "ghain-abc" }, known)).toEqual(installed);
  expect(change({ oauthTokenId: "ot-1234567890abcdef" }, installed)).toEqual(known);
  const both = { oauthTokenId: "ot-a", appInstallationId: "ghain-a" };
  expect(change(both, known)).toEqual(["vcsRepo.appInstallationId"]);
});

test.each(["a/b", "acme/net.work_1", "org/project/_git/repo"])(
  "%s is a valid identifier",
  (identifier) => {
    proves("Workspace/vcs-repo.identifier");
    expect(change({ identifier }, known)).toMatchObject({ identifier });
  },
);

test.each<VcsRepoSettings>([
  { identifier: "" },
  { identifier: "network" },
  { identifier: "a/b/c" },
  { identifier: "a/b/_git" },
  { identifier: "a b/c" },
  { identifier: "https://example.com/a/b" },
  { identifier: `a/${"b".repeat(2000)}` },
  { oauthTokenId: "token" },
  { oauthTokenId: "ot-" },
  { appInstallationId: "ot-1" },
  { tagsRegex: "(" },
  { tagsRegex: "[a" },
  { branch: "b".repeat(2000) },
])("%j is refused", (settings) => {
  proves("Workspace/vcs-repo.identifier", "Workspace/vcs-repo.tags-regex");
  expect(change(settings, known)).toHaveLength(1);
});

test.each(["^v\\d+$", "(?i)release", "(?P<major>v\\d+)", "\\Av1\\z", ""])(
  "%j is a regular expression",
  (tagsRegex) => {
    proves("Workspace/vcs-repo.tags-regex");
    expect(change({ tagsRegex }, known)).toMatchObject({ tagsRegex });
  },
);
