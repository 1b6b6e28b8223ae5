import { freshDatabase } from "@statehouse/testing";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { authenticate } from "./authentication.ts";
import { grantsOfUser } from "./grants.ts";
import { migrations } from "./migrations.ts";
import { batchOfTeams } from "./team.ts";
import { batchOfUsers } from "./user.ts";
import { listOfUser } from "./user-token.ts";

const stack = new AsyncDisposableStack();
let client: Client;

// 100,000 users, each with a token, in a team of one of 1,000 organizations with 5 teams each.
const rows = `
  insert into users select 'user-' || i, 'name-' || i, i || '@example.com', false, false, i, now()
    from generate_series(1, 100000) i;
  insert into user_tokens select 'at-' || i, 'user-' || i, md5(i::text), '', i, null, now(), now(), null
    from generate_series(1, 100000) i;
  insert into organizations select 'org-' || i, i, 1, now() from generate_series(0, 999) i;
  insert into teams
    select 'team-' || i, 'org-' || i % 1000, 't-' || i, 'secret', '{read-projects}', i < 1000, now()
    from generate_series(0, 4999) i;
  insert into team_members select 'team-' || i % 5000, 'user-' || i, 'org-' || i % 1000, now()
    from generate_series(1, 100000) i;
  insert into team_projects
    select 'tprj-' || i, 'team-' || i % 5000, 'prj-' || i, 'org-' || i % 1000, 'read', now()
    from generate_series(1, 20000) i;
  analyze`;

beforeAll(async () => {
  const { url } = stack.use(await freshDatabase({ contextName: "access", migrations }));
  client = stack.adopt(new Client({ connectionString: url }), (open) => open.end());
  await client.connect();
  await client.query(rows);
});
afterAll(() => stack.disposeAsync());

test.each(Object.entries({ authenticate, grantsOfUser, batchOfTeams, batchOfUsers, listOfUser }))(
  "%s reads no table from end to end",
  async (_, sql) => {
    const { rows: lines } = await client.query(`explain (generic_plan) ${sql}`);
    const plan = lines.map((line) => String(line["QUERY PLAN"])).join("\n");
    expect(plan).toMatch(/Index/);
    expect(plan).not.toMatch(/Seq Scan/);
  },
);
