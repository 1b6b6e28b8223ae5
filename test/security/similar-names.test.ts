import { migrations as accessMigrations } from "@statehouse/access/store/migrations";
import { migrate } from "@statehouse/postgres";
import { freshDatabase } from "@statehouse/postgres/testing";
import { migrations as workspacesMigrations } from "@statehouse/workspaces/store/migrations";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { useFixture } from "../system/fixture.ts";

const fixture = useFixture();

const taken = { errors: [{ detail: "Name has already been taken" }] };

test("an organization in another case is taken, for creation and renaming", async () => {
  const { owner, stranger, organization } = fixture();
  const name = organization.toUpperCase();
  const other = document("organizations", { name, email: "a@b.example" });
  const created = await stranger.api.post("/organizations", other);
  expect(created).toMatchObject({ status: 422, body: taken });
  const path = `/organizations/${stranger.organization}`;
  const renamed = await stranger.api.patch(path, document("organizations", { name }));
  expect(renamed).toMatchObject({ status: 422, body: taken });
  expect((await owner.api.get(`/organizations/${organization}`)).status).toBe(200);
});

test.each(["owners", "OWNERS", "0wners", "own3r5", "ovvners", "own-ers"])(
  "a team %s is taken",
  async (name) => {
    const { owner, organization } = fixture();
    const path = `/organizations/${organization}/teams`;
    const created = await owner.api.post(path, document("teams", { name }));
    expect(created).toMatchObject({ status: 422, body: taken });
    const other = await owner.api.post(path, document("teams", { name: unusedName("team") }));
    const renamed = await owner.api.patch(
      `/teams/${other.body.data.id}`,
      document("teams", { name }),
    );
    expect(renamed).toMatchObject({ status: 422, body: taken });
  },
);

test("a team in another case is taken, and a team changes the case of its own name", async () => {
  const { owner, organization } = fixture();
  const path = `/organizations/${organization}/teams`;
  const name = unusedName("team");
  const { body } = await owner.api.post(path, document("teams", { name }));
  const again = await owner.api.post(path, document("teams", { name: name.toUpperCase() }));
  expect(again).toMatchObject({ status: 422, body: taken });
  const own = document("teams", { name: name.toUpperCase() });
  expect((await owner.api.patch(`/teams/${body.data.id}`, own)).status).toBe(200);
});

test("existing clashes of organizations stop the migration, which lists them with the remedy", async () => {
  const before = workspacesMigrations.filter(({ name }) => name < "0013");
  await using fresh = await freshDatabase({ contextName: "workspaces", migrations: before });
  await fresh.query(`
    insert into organizations (id, name, email, status, creator_user_id, default_project_id,
      default_execution_mode, allow_force_delete_workspaces, assessments_enforced,
      user_tokens_enabled, collaborator_auth_policy, cost_estimation_enabled,
      send_passing_statuses_for_untriggered_speculative_plans, aggregated_commit_status_enabled,
      speculative_plan_management_enabled, plan, retry_at, revision, created_at, updated_at)
    select 'org-' || name, name, 'a@b.example', 'active', 'user-1', 'prj-' || name, 'remote', true,
      true, true, 'password', true, true, true, true, 'standard', now(), 1, now(), now()
    from unnest(array['demo', 'DEMO', 'other']) name`);
  const migrated = () =>
    migrate({ url: fresh.url, contextName: "workspaces", migrations: workspacesMigrations });
  await expect(migrated()).rejects.toThrow(
    /differ only by case: demo, DEMO. Rename|DEMO, demo. Rename/,
  );
  await fresh.query("update organizations set name = 'demo-2' where name = 'DEMO'");
  await migrated();
});

test("existing clashes of teams stop the migration, which lists them with the remedy", async () => {
  const before = accessMigrations.filter(({ name }) => name < "0008");
  await using fresh = await freshDatabase({ contextName: "access", migrations: before });
  await fresh.query("insert into organizations values ('org-1', 1, 1, now(), null, true, 0)");
  await fresh.query(`
    insert into teams
    select 'team-' || name, 'org-1', name, 'secret', '{}', false, now(), null, true
    from unnest(array['owners', 'OWNERS']) name`);
  const migrated = () =>
    migrate({ url: fresh.url, contextName: "access", migrations: accessMigrations });
  await expect(migrated()).rejects.toThrow(/team-owners owners.* in org-1\. Rename/);
  await fresh.query("update teams set name = 'team-2' where name = 'OWNERS'");
  await migrated();
});
