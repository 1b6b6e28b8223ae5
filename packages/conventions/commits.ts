// Not commitlint: its configuration for several scopes is longer than this function, and it adds some 30 packages.
/** Returns the rules of CONTRIBUTING.md, "Commits and decisions", that a commit subject breaks. */
export function subjectProblems(subject: string): string[] {
  const problems: string[] = [];
  if (subject.length > 72) problems.push(`it has ${subject.length} characters; at most 72`);
  if (!/^[a-z][a-z0-9-]*(, [a-z][a-z0-9-]*)*: \S/.test(subject))
    problems.push("it does not begin with a scope, as in `state: …`");
  if (/[.…]$/.test(subject)) problems.push("it ends with a full stop");
  return problems;
}
