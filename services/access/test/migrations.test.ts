import { migrate } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { expect, test } from "vitest";
import { migrations } from "../store/migrations.ts";

test("grants on projects and workspaces become team accesses with one name for each permission", async () => {
  const before = migrations.filter(({ name }) => name < "0005");
  await using fresh = await freshDatabase({ contextName: "access", migrations: before });
  await fresh.query(`
    insert into organizations values ('org-1', 1, 1, now(), null, true, 0);
  `);
  await fresh.query(`
    insert into teams values
      ('team-1', 'org-1', 'one', 'secret', '{}', false, now(), null, true)
  `);
  await fresh.query(`
    insert into team_projects (id, team_id, project_id, organization_id, access, permissions, created_at)
    values ('tprj-1', 'team-1', 'prj-1', 'org-1', 'custom', '{"workspace-access.runs": "plan"}', now())
  `);
  await fresh.query(`
    insert into team_workspaces (id, team_id, workspace_id, organization_id, access, permissions, created_at)
    values
      ('tws-1', 'team-1', 'ws-1', 'org-1', 'custom', '{"runs": "apply", "workspace-locking": true}', now()),
      ('tws-2', 'team-1', 'ws-2', 'org-1', 'read', '{}', now())
  `);
  await migrate({ url: fresh.url, contextName: "access", migrations });
  const rows = await fresh.query(
    `select id, target_type as type, target_id as target, access, permissions
     from team_accesses order by id`,
  );
  expect(rows).toEqual([
    {
      id: "tprj-1",
      type: "project",
      target: "prj-1",
      access: "custom",
      permissions: { "workspace-access.runs": "plan" },
    },
    {
      id: "tws-1",
      type: "workspace",
      target: "ws-1",
      access: "custom",
      permissions: { "workspace-access.runs": "apply", "workspace-access.locking": true },
    },
    { id: "tws-2", type: "workspace", target: "ws-2", access: "read", permissions: {} },
  ]);
});
