import { openDatabase } from "@statehouse/postgres";
import { newRow } from "@statehouse/postgres/new-row";
import { freshDatabase } from "@statehouse/postgres/testing";
import { createLogger } from "@statehouse/runtime";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  authenticate,
  authenticateTokenId,
  batchAuthenticate,
} from "../../authentication/store.ts";
import {
  grantsOfAuditTrails,
  grantsOfOrganization,
  grantsOfTeam,
  grantsOfTeams,
  grantsOfUser,
} from "../../grants/store.ts";
import { migrations } from "../../migrations.ts";
import { createReads, entities, listing, transactions } from "../../nouns.ts";
import {
  batchOfMemberships,
  listOfMemberships,
  listOfOwnMemberships,
  membersNamed,
} from "../../organization-membership/store.ts";
import { principalName } from "../../principal-name/store.ts";
import { Run } from "../../run-token/domain.ts";
import { authenticateRun, authenticateRunTokenId, bindingOfRun } from "../../run-token/store.ts";
import { batchOfTeams, listOfTeams } from "../../team/store.ts";
import { listOfTeamAccess, teamAccessById } from "../../team-access/store.ts";
import { countOfActiveMembers } from "../../team-member/store.ts";
import { listOfTeamTokens, listOfUser, recordUses, tokenInSlot } from "../../token/store.ts";
import {
  batchOfUsers,
  listOfUsers,
  otherUserByName,
  ownersOfOrganizations,
  userByEmail,
  userById,
  userByName,
} from "../../user/store.ts";

const stack = new AsyncDisposableStack();
let client: Client;
let url: string;

// Inserts 100,000 users, each with a token. Each user is in one team, and each of 1,000 organizations has 5 teams.
const rows = `
  -- Disables the checks of foreign keys, which would take most of the time of the insertion.
  set session_replication_role = replica;
  insert into users (id, username, email, administrator, suspended, version, created_at)
    select 'user-' || i, 'name-' || i, i || '@example.com', false, false, i, now()
    from generate_series(1, 100000) i;
  insert into organizations (id, version, provisioned_version, created_at)
    select 'org-' || i, i, 1, now() from generate_series(0, 999) i;
  insert into token_ttl_policies
    select 'org-' || i, type, 1000, now(), now()
    from generate_series(0, 999) i, unnest('{user,team,organization,audit-trails}'::text[]) type;
  insert into teams (id, organization_id, name, visibility, organization_access, owners, created_at)
    select 'team-' || i, 'org-' || i % 1000, 't-' || i, 'secret', '{read-projects}', i < 1000, now()
    from generate_series(0, 4999) i;
  insert into team_members select 'team-' || i % 5000, 'user-' || i, 'org-' || i % 1000, now()
    from generate_series(1, 100000) i;
  insert into team_accesses
    select 'tprj-' || i, 'team-' || i % 5000, 'project', 'prj-' || i, 'org-' || i % 1000, 'read', '{}', now()
    from generate_series(1, 20000) i;
  insert into team_accesses
    select 'tws-' || i, 'team-' || i % 5000, 'workspace', 'ws-' || i, 'org-' || i % 1000, 'read', '{}', now()
    from generate_series(1, 20000) i;
  insert into organization_memberships (id, organization_id, user_id, status, created_at)
    select 'ou-' || i, 'org-' || i % 1000, 'user-' || i, 'active', now()
    from generate_series(1, 100000) i;
  insert into tokens (id, user_id, hash, description, revision, created_at, expired_at, type, slot)
    select 'at-' || i, 'user-' || i, md5(i::text), '', i, now(), now(), 'user', 'described'
    from generate_series(1, 100000) i;
  insert into tokens
      (id, team_id, organization_id, hash, description, revision, created_at, expired_at, type, slot)
    select 'at-t' || i, 'team-' || i, 'org-' || i % 1000, 't' || i, '', i, now(), now(), 'team', 'plain'
    from generate_series(0, 4999) i;
  insert into runs
    select 'run-' || i, 'ws-' || i, 'org-' || i % 1000, 'runner', now() from generate_series(1, 20000) i;
  insert into run_tokens
    select 'at-r' || i, 'run-' || i, 'r' || i, i, now() from generate_series(1, 20000) i;
  reset session_replication_role;
  analyze`;

beforeAll(async () => {
  ({ url } = stack.use(await freshDatabase({ contextName: "access", migrations })));
  client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
  await client.connect();
  await client.query(rows);
});
afterAll(() => stack.disposeAsync());

const statements = {
  authenticate,
  authenticateTokenId,
  batchAuthenticate,
  grantsOfUser,
  grantsOfTeam,
  grantsOfTeams,
  grantsOfOrganization,
  grantsOfAuditTrails,
  batchOfTeams,
  listOfTeams,
  batchOfUsers,
  ownersOfOrganizations,
  batchOfMemberships,
  listOfMemberships: listOfMemberships(),
  listOfMembershipsByStatus: listOfMemberships({ descending: true }),
  listOfOwnMemberships,
  listOfTeamAccess,
  teamAccessById,
  listOfUser,
  listOfTeamTokens: listOfTeamTokens(),
  listOfTeamTokensByTeam: listOfTeamTokens({ key: "team-name", descending: true }),
  tokenInSlot,
  recordUses,
  userById,
  userByName,
  userByEmail,
  otherUserByName,
  membersNamed,
  countOfActiveMembers,
  principalName,
  authenticateRun,
  authenticateRunTokenId,
  bindingOfRun,
};

const planOf = async (sql: string) => {
  const { rows: lines } = await client.query(`explain (generic_plan) ${sql}`);
  return lines.map((line) => String(line["QUERY PLAN"])).join("\n");
};

test.each(Object.entries(statements))("%s makes no sequential scan", async (_, sql) => {
  const plan = await planOf(sql);
  expect(plan).toMatch(/Index/);
  expect(plan).not.toMatch(/Seq Scan/);
});

// PostgreSQL plans a prepared statement at each of its first five uses. After that it uses the generic plan, unless
// plans for the given values are estimated to cost less.
test("authentication is not planned at each use", async () => {
  await using database = await openDatabase({
    contextName: "access",
    url,
    entities,
    migrations,
    poolSize: 1,
    logger: createLogger({ service: "test", level: "silent" }),
  });
  const { authentication } = createReads(database);
  const now = new Date();
  for (let use = 0; use < 10; use++) {
    await authentication.find("hash", now);
    await authentication.findByTokenId("at-1", now);
    await authentication.batch(["hash", "other", "third"], now);
  }
  const planned = await database.query<{ uses: number; sql: string }>(
    `select custom_plans::int as uses, statement as sql from pg_prepared_statements
     where statement like '%from tokens t%' and statement not like '%pg_prepared_statements%'`,
  );
  expect(planned).toHaveLength(3);
  for (const { uses, sql } of planned) expect.soft(uses, sql).toBe(5);
});

// Only the page is checked: the total counts all matching users, which no index can speed up.
test("listOfUsers reads one page in the order of an index", async () => {
  const plan = await planOf(listOfUsers);
  expect(plan).toMatch(/Index Scan using users_username_key/);
});

test("statements that change rows make no sequential scan", async () => {
  const sent: string[] = [];
  await using database = await openDatabase({
    contextName: "access",
    url,
    entities,
    migrations,
    logger: createLogger({ service: "test", level: "silent" }),
    onStatement: (sql) => void sent.push(sql),
  });
  const now = new Date();
  const { runTokens, teamAccess } = createReads(database);
  const list = listing({ database, source: "urn:test" });
  const filters = ["statehouse.*.*.*.*.org-7"];
  let cursor = "";
  do {
    ({ nextCursor: cursor } = await list({ filters, cursor, maxBytes: 1e6 }));
  } while (cursor !== "");
  await runTokens.listBound(["run-2", "run-3"]);
  await runTokens.listWorkspacesWithRuns(["ws-2", "ws-3"]);
  await teamAccess.listTargetsWithGrants(["ws-2", "prj-3"]);
  await transactions(database)(async (tx) => {
    const run = { id: "run-1", workspaceId: "ws-1", organizationId: "org-1" } as const;
    await tx.runTokens.bind(newRow(Run, { ...run, runner: "runner", expiredAt: now }));
    await tx.runTokens.removeRuns(["run-2", "run-4"]);
    await tx.runTokens.findForUpdate("at-none", "runner");
    await tx.memberships.getWithOrganization("ou-7");
    await tx.memberships.ofUser("user-7");
    await tx.memberships.get({ organizationId: "org-7", userId: "user-7" });
    await tx.organizations.ofUserForUpdate("user-7");
    await tx.users.findByEmailForUpdate("u7@example.com");
    await tx.users.removePlaceholder({ id: "user-none" });
    await tx.tokens.ofUser("user-7");
    await tx.tokens.removeFromSlot("org-1", "team-1", "plain");
    await tx.teamMembers.ofUser("org-7", "user-7");
    await tx.teamMembers.find({ teamId: "team-1", userId: "user-7" });
    await tx.teamAccess.find({ teamId: "team-1", targetId: "ws-1" });
    await tx.teamAccess.removeOfTargets(["ws-9"]);
    await tx.teams.nameIsTaken({ id: "team-1", organizationId: "org-1", name: "T-1" });
    await tx.runTokens.removeRunsOfWorkspaces(["ws-3", "ws-5"]);
    await tx.runTokens.removeExpiredRuns(now);
    await tx.organizations.addIfAbsent(await tx.organizations.getForUpdate("org-1"));
    const { team } = await tx.teams.getWithOrganization("team-1500");
    await tx.teams.remove(team);
    await tx.organizations.removeContents("org-2");
  });
  const ours = [...new Set(sent)].filter((sql) => sql.includes("$1"));
  expect(ours.length).toBeGreaterThan(14);
  for (const sql of ours) expect.soft(await planOf(sql), sql).not.toMatch(/Seq Scan/);
});
