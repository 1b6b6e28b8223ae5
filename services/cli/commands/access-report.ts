import { type AccessReport, readAccess } from "@statehouse/access/access-report-command";
import type { Database } from "@statehouse/postgres";
import { StartError } from "@statehouse/runtime";
import { parsedArguments } from "./arguments.ts";
import { openServiceDatabases, organizationIdOf } from "./service-databases.ts";

const usage = "usage: statehouse access-report <organization> [--json]";

/** Prints the current permissions of users and teams in an organization, and the date since which each has them. */
export async function runAccessReport(
  args: readonly string[],
  print: (line: string) => void,
): Promise<void> {
  const { positionals, values } = parsedArguments(args, { json: { type: "boolean" } }, usage);
  const [organization, ...more] = positionals;
  if (organization === undefined || more.length > 0) throw new StartError(usage);
  await using stack = new AsyncDisposableStack();
  const { databases } = await openServiceDatabases(stack);
  const access = databases.get("access");
  if (!access) throw new StartError("ACCESS_DATABASE_URL: is required but not set");
  const report = await readAccess(access, await organizationIdOf(databases, organization));
  if (!report) throw new StartError(`There is no organization ${organization}.`);
  const names = await namesOf(databases.get("workspaces"), report);
  if (values.json) print(JSON.stringify(withNames(report, names), undefined, 2));
  else for (const line of tables(report, names)) print(line);
}

type Names = ReadonlyMap<string, string>;

/**
 * Returns the names of the report's projects and workspaces by their ids; an empty map if the workspaces service's
 * database is not configured.
 */
async function namesOf(workspaces: Database | undefined, report: AccessReport): Promise<Names> {
  const ids = [
    ...report.teams.flatMap(({ grants }) => grants.map(({ targetId }) => targetId)),
    ...report.runs.map(({ workspaceId }) => workspaceId),
  ];
  const rows = await workspaces?.query<{ id: string; name: string }>(
    // index: projects_pkey, workspaces_pkey
    `select id, name from projects where id = any($1)
     union all select id, name from workspaces where id = any($1)`,
    [ids],
  );
  return new Map((rows ?? []).map(({ id, name }) => [id, name]));
}

const withNames = (report: AccessReport, names: Names) => ({
  ...report,
  teams: report.teams.map((team) => ({
    ...team,
    grants: team.grants.map((grant) => ({
      ...grant,
      targetName: names.get(grant.targetId) ?? null,
    })),
  })),
});

const day = (time: Date | null): string => time?.toISOString().slice(0, 10) ?? "never";

type Cells = readonly string[];

/** Returns the lines of a table with aligned columns. If there are no rows, returns one line that says so. */
function table(title: string, columns: Cells, rows: readonly Cells[]): string[] {
  if (rows.length === 0) return [`${title}: none`, ""];
  const all = [columns, ...rows];
  const widths = columns.map((_, index) => Math.max(...all.map((row) => row[index]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [`${title}:`, ...lines.map((line) => `  ${line}`), ""];
}

function permissionsOf(access: string, permissions: Readonly<Record<string, unknown>>): string {
  const custom = Object.entries(permissions).map(([name, value]) => `${name}=${value}`);
  return [access, ...custom].join(" ");
}

/**
 * Returns the permissions of each team as table rows: one for each organization-level permission and one for each
 * grant. The owners team also has the row `everything`. Members have no rows, because they have only the permissions of
 * their teams.
 */
function rights({ teams }: AccessReport, names: Names): Cells[] {
  return teams.flatMap((team) => [
    ...(team.owners ? [[team.name, "organization", "everything", day(team.since)]] : []),
    ...team.organizationAccess.map((access) => [
      team.name,
      "organization",
      access,
      `${day(team.since)} (team)`,
    ]),
    ...team.grants.map(({ targetType, targetId, access, permissions, since }) => [
      team.name,
      `${targetType} ${names.get(targetId) ?? targetId}`,
      permissionsOf(access, permissions),
      day(since),
    ]),
  ]);
}

function tables(report: AccessReport, names: Names): string[] {
  const { organization, members, teams, tokens, runs } = report;
  return [
    `Access to ${organization.id} on ${new Date().toISOString()}`,
    ...(organization.userTokens ? [] : ["Tokens of users are refused."]),
    "",
    ...table(
      "Members",
      ["user", "e-mail", "status", "member since", "teams"],
      members.map(({ username, email, status, suspended, since, teams: of }) => [
        username,
        email,
        suspended ? "suspended" : status,
        day(since),
        of.join(", "),
      ]),
    ),
    ...table(
      "Members of teams",
      ["team", "user", "since"],
      teams.flatMap(({ name, members: of }) =>
        of.map(({ username, since }) => [name, username, day(since)]),
      ),
    ),
    ...table("Permissions of teams", ["team", "on", "may", "since"], rights(report, names)),
    ...table(
      "Tokens",
      ["type", "owner", "id", "description", "created", "by", "last used", "expires"],
      tokens.map((token) => [
        token.type,
        token.owner ?? "",
        token.id,
        token.description,
        day(token.since),
        token.createdById ?? "",
        day(token.lastUsedAt),
        day(token.expiresAt),
      ]),
    ),
    ...table(
      "Runs with tokens",
      ["run", "workspace", "runner", "tokens", "expire"],
      runs.map(({ id, workspaceId, runner, tokens: count, expiresAt }) => [
        id,
        names.get(workspaceId) ?? workspaceId,
        runner,
        String(count),
        expiresAt.toISOString(),
      ]),
    ),
  ];
}
