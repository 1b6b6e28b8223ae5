import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { useFixture } from "../system/fixture.ts";

const fixture = useFixture();

const taken = { errors: [{ detail: "Name has already been taken" }] };

test("an organization name that differs only in letter case counts as taken, on creation and renaming", async () => {
  const { owner, outsider, organization } = fixture();
  const name = organization.toUpperCase();
  const other = document("organizations", { name, email: "a@b.example" });
  const created = await outsider.api.post("/organizations", other);
  expect(created).toMatchObject({ status: 422, body: taken });
  const path = `/organizations/${outsider.organization}`;
  const renamed = await outsider.api.patch(path, document("organizations", { name }));
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

test("a team name that differs only in letter case counts as taken, and a team can change the case of its own name", async () => {
  const { owner, organization } = fixture();
  const path = `/organizations/${organization}/teams`;
  const name = unusedName("team");
  const { body } = await owner.api.post(path, document("teams", { name }));
  const again = await owner.api.post(path, document("teams", { name: name.toUpperCase() }));
  expect(again).toMatchObject({ status: 422, body: taken });
  const own = document("teams", { name: name.toUpperCase() });
  expect((await owner.api.patch(`/teams/${body.data.id}`, own)).status).toBe(200);
});
