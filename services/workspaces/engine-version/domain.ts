import semver from "semver";

const version = String.raw`v?\d{1,9}(\.\d{1,9}){0,2}(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?`;
const condition = new RegExp(String.raw`^\s*(=|!=|>=|<=|>|<|~>)?\s*(${version})\s*$`);
const MAX_LENGTH = 128;

/**
 * Returns whether a string is an exact version, a constraint such as `~> 1.0.0, != 1.0.3`, or `latest`. Accepts exact
 * versions that are not known releases, because OpenTofu's clients send versions of OpenTofu.
 */
export const isEngineVersion = (text: string): boolean =>
  text === "latest" ||
  (text.length <= MAX_LENGTH && text.split(",").every((part) => condition.test(part)));

/** Returns the newest known release; prereleases are ignored. */
export const latestRelease = (releases: readonly string[]): string | undefined =>
  releases.filter((release) => semver.prerelease(release) === null).toSorted(semver.rcompare)[0];

/**
 * Returns the version that a workspace uses. An exact version is returned unchanged, even if it is not a known release.
 * For a constraint or `latest`, returns the newest matching release; undefined if none matches.
 */
export function resolveEngineVersion(
  text: string,
  releases: readonly string[],
): string | undefined {
  if (text === "latest") return latestRelease(releases);
  const conditions = text.split(",").map(conditionOf);
  const [only] = conditions;
  if (conditions.length === 1 && only?.exact) return only.version;
  return releases
    .filter((release) => conditions.every((each) => each.holds(release)))
    .toSorted(semver.rcompare)[0];
}

interface Condition {
  version: string;
  /** Whether the condition is a complete version with the operator `=` or without an operator. */
  exact: boolean;
  holds(release: string): boolean;
}

function conditionOf(part: string): Condition {
  const [, operator = "=", bound = ""] = condition.exec(part) ?? [];
  const text = bound.replace(/^v/, "");
  const [numbers = "", ...suffix] = text.split(/(?=[-+])/);
  const segments = numbers.split(".");
  const full = [...segments, "0", "0"].slice(0, 3).join(".") + suffix.join("");
  const pessimist = `<${nextOfPessimist(segments)}`;
  const tests: Readonly<Record<string, (release: string) => boolean>> = {
    "=": (release) => semver.eq(release, full),
    "!=": (release) => semver.neq(release, full),
    ">": (release) => semver.gt(release, full),
    ">=": (release) => semver.gte(release, full),
    "<": (release) => semver.lt(release, full),
    "<=": (release) => semver.lte(release, full),
    "~>": (release) => semver.gte(release, full) && semver.satisfies(release, pessimist),
  };
  const holds = tests[operator] ?? (() => false);
  return {
    version: text,
    exact: operator === "=" && segments.length === 3,
    // A prerelease matches only if the constraint names it exactly.
    holds: (release) =>
      semver.valid(full) !== null &&
      holds(release) &&
      (semver.prerelease(release) === null || semver.eq(release, full)),
  };
}

/**
 * Returns the upper limit of a `~>` constraint. Only the last segment of the constraint may grow: `~> 1.2.3` allows
 * versions below 1.3.0, and `~> 1.2` allows versions below 2.0.0.
 */
function nextOfPessimist(segments: readonly string[]): string {
  const [major = "0", minor = "0"] = segments;
  if (segments.length === 1) return "999999999.0.0";
  return segments.length === 2 ? `${Number(major) + 1}.0.0` : `${major}.${Number(minor) + 1}.0`;
}
