import { inWords, type Problems } from "@statehouse/errors";
import { holdsNul } from "../text-domain.ts";

/** The repository of a workspace's configuration. It is a record for runners: Statehouse clones no repository. */
export interface VcsRepo {
  identifier: string;
  /** Empty for the default branch of the repository. */
  branch: string;
  ingressSubmodules: boolean;
  /** Exactly one of `oauthTokenId` and `appInstallationId` is set. */
  oauthTokenId: string | null;
  appInstallationId: string | null;
  tagsRegex: string | null;
}

/**
 * Repository values in a request. If a value is absent, the previous value is kept. For a new repository, an absent
 * value is replaced by its default, except that the identifier and one of the two credentials are required.
 */
export type VcsRepoSettings = { [Name in keyof VcsRepo]?: VcsRepo[Name] | undefined };

const path = (field: keyof VcsRepo) => `vcsRepo.${field}`;

const TOKEN = /^ot-[A-Za-z0-9]{1,64}$/;
const INSTALLATION = /^ghain-[A-Za-z0-9]{1,64}$/;
// Accepts `:org/:repo`, and `:org/:project/_git/:repo` for Azure DevOps, where repositories belong to projects.
const IDENTIFIER = /^[^/\s]+\/[^/\s]+(?:\/_git\/[^/\s]+)?$/;
const MAX_LENGTH = 1024;

/** Returns the previous repository with the settings applied, and adds violated rules to `problems`. */
export function changeVcsRepo(
  previous: VcsRepo | null,
  settings: VcsRepoSettings,
  problems: Problems,
): VcsRepo {
  const { oauthTokenId, appInstallationId } = settings;
  if (oauthTokenId && appInstallationId) {
    const text = "must not be given together with oauth-token-id";
    problems.add(path("appInstallationId"), `Vcs app installation id ${text}`);
  }
  if (!previous && settings.identifier === undefined) {
    problems.add(path("identifier"), "Identifier must be given with a new vcs-repo");
  }
  if (!previous && !oauthTokenId && !appInstallationId) {
    const text = "Oauth token id or vcs app installation id must be given with a new vcs-repo";
    problems.add(path("oauthTokenId"), text);
  }
  checkForms(settings, problems);
  const credentials =
    oauthTokenId || appInstallationId
      ? { oauthTokenId: oauthTokenId || null, appInstallationId: appInstallationId || null }
      : {};
  const { identifier, branch, ingressSubmodules, tagsRegex } = settings;
  return {
    ...(previous ?? fresh),
    ...credentials,
    ...(identifier === undefined ? {} : { identifier }),
    ...(branch === undefined ? {} : { branch }),
    ...(ingressSubmodules === undefined ? {} : { ingressSubmodules }),
    ...(tagsRegex === undefined ? {} : { tagsRegex }),
  };
}

const fresh: VcsRepo = {
  identifier: "",
  branch: "",
  ingressSubmodules: false,
  oauthTokenId: null,
  appInstallationId: null,
  tagsRegex: null,
};

function checkForms(settings: VcsRepoSettings, problems: Problems): void {
  const { identifier, branch, oauthTokenId, appInstallationId, tagsRegex } = settings;
  const check = (
    field: keyof VcsRepo,
    value: string | null | undefined,
    good: (text: string) => boolean,
  ) => {
    if (!value) return;
    if (value.length > MAX_LENGTH || holdsNul(value) || !good(value)) {
      // The message uses the attribute's public name, which differs from the field's name.
      const words = inWords(field === "appInstallationId" ? "vcsAppInstallationId" : field);
      problems.add(path(field), `${words} is invalid`);
    }
  };
  if (identifier === "") problems.add(path("identifier"), "Identifier can't be blank");
  check("identifier", identifier, (text) => IDENTIFIER.test(text));
  check("branch", branch, () => true);
  check("oauthTokenId", oauthTokenId, (text) => TOKEN.test(text));
  check("appInstallationId", appInstallationId, (text) => INSTALLATION.test(text));
  check("tagsRegex", tagsRegex, isRegularExpression);
}

/**
 * Returns whether a string is a valid regular expression. Runners use a different dialect. Therefore, before the check
 * with JavaScript, flags such as `(?i)` are removed and `(?P<name>` is rewritten to `(?<name>`.
 */
function isRegularExpression(text: string): boolean {
  try {
    new RegExp(text.replaceAll(/\(\?[a-zA-Z-]+\)/g, "").replaceAll("(?P<", "(?<"));
    return true;
  } catch {
    return false;
  }
}
