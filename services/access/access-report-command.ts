import type { Database } from "@statehouse/postgres";

/** Who has access to an organization, and since when: its members, teams, grants, tokens and runs. */
export interface AccessReport {
  organization: {
    id: string;
    /** Whether the organization accepts user tokens. */
    userTokens: boolean;
  };
  members: readonly Member[];
  teams: readonly Team[];
  tokens: readonly ReportedToken[];
  runs: readonly ReportedRun[];
}

interface Member {
  userId: string;
  username: string;
  email: string;
  /** `active`, or `invited` before the invitation is accepted. */
  status: string;
  suspended: boolean;
  since: Date;
  teams: readonly string[];
}

interface Team {
  id: string;
  name: string;
  owners: boolean;
  visibility: string;
  /** Organization-level permissions. */
  organizationAccess: readonly string[];
  since: Date;
  members: readonly { username: string; since: Date }[];
  grants: readonly Grant[];
}

interface Grant {
  targetType: "project" | "workspace";
  targetId: string;
  access: string;
  /** The stored permissions of a custom grant; empty for any other access level. */
  permissions: Readonly<Record<string, unknown>>;
  since: Date;
}

interface ReportedToken {
  id: string;
  /** `user`, `team`, `organization` or `audit-trails`. */
  type: string;
  /** The name of the user or team; null for tokens of the organization. */
  owner: string | null;
  description: string;
  since: Date;
  createdById: string | null;
  lastUsedAt: Date | null;
  expiresAt: Date;
}

interface ReportedRun {
  id: string;
  workspaceId: string;
  runner: string;
  tokens: number;
  expiresAt: Date;
}

const organization = `
  -- index: organizations_pkey
  select id, user_tokens_enabled as "userTokens" from organizations
  where id = $1 and dropped_at is null`;

const members = `
  -- index: organization_memberships_by_organization, users_pkey, team_members_by_user, teams_pkey
  select u.id as "userId", u.username, coalesce(u.email, '') as email, m.status, u.suspended,
    m.created_at as since, array(
      select t.name from team_members tm join teams t on t.id = tm.team_id
      where tm.user_id = u.id and tm.organization_id = m.organization_id and m.status = 'active'
      order by t.name
    ) as teams
  from organization_memberships m join users u on u.id = m.user_id
  where m.organization_id = $1 order by lower(u.username), u.id`;

const teams = `
  -- index: teams_lower_name_key
  select id, name, owners, visibility, organization_access as "organizationAccess",
    created_at as since
  from teams where organization_id = $1 order by not owners, lower(name)`;

const teamMembers = `
  -- index: team_members_organization, users_pkey
  select tm.team_id as "teamId", u.username, tm.created_at as since
  from team_members tm join users u on u.id = tm.user_id
  where tm.organization_id = $1 order by lower(u.username)`;

const grants = `
  -- index: team_accesses_organization
  select team_id as "teamId", target_type as "targetType", target_id as "targetId", access,
    permissions, created_at as since
  from team_accesses where organization_id = $1 order by target_type, created_at, id`;

const tokens = `
  -- index: tokens_by_organization, tokens_by_user, organization_memberships_by_organization
  select t.id, case t.slot when 'audit-trails' then t.slot else t.type end as type,
    coalesce(u.username, s.name) as owner, t.description, t.created_at as since,
    t.created_by_id as "createdById", t.last_used_at as "lastUsedAt", t.expired_at as "expiresAt"
  from (
    select * from tokens where organization_id = $1
    union all
    select tokens.* from organization_memberships m
    join tokens on tokens.user_id = m.user_id
    where m.organization_id = $1 and m.status = 'active'
  ) t
  left join users u on u.id = t.user_id
  left join teams s on s.id = t.team_id
  where t.expired_at > now()
  order by 2, 3, t.created_at, t.id`;

const runs = `
  -- index: runs_organization, run_tokens_run
  select r.id, r.workspace_id as "workspaceId", r.runner, count(*)::int as tokens,
    max(t.expired_at) as "expiresAt"
  from runs r join run_tokens t on t.run_id = r.id and t.expired_at > now()
  where r.organization_id = $1 group by r.id order by r.id`;

/**
 * Returns the current access report of an organization; undefined if the organization does not exist. Reads each part
 * of the report with one statement.
 */
export async function readAccess(
  { query }: Pick<Database, "query">,
  organizationId: string,
): Promise<AccessReport | undefined> {
  const of = [organizationId];
  const [found] = await query<AccessReport["organization"]>(organization, of);
  if (!found) return undefined;
  const inTeams = await query<{ teamId: string; username: string; since: Date }>(teamMembers, of);
  const membersOf = Map.groupBy(inTeams, ({ teamId }) => teamId);
  const granted = await query<Grant & { teamId: string }>(grants, of);
  const grantsOf = Map.groupBy(granted, ({ teamId }) => teamId);
  const rows = await query<Omit<Team, "members" | "grants">>(teams, of);
  return {
    organization: found,
    members: await query<Member>(members, of),
    teams: rows.map((team) => ({
      ...team,
      members: (membersOf.get(team.id) ?? []).map(({ teamId: _, ...member }) => member),
      grants: (grantsOf.get(team.id) ?? []).map(({ teamId: _, ...grant }) => grant),
    })),
    tokens: await query<ReportedToken>(tokens, of),
    runs: await query<ReportedRun>(runs, of),
  };
}
