import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { unusedName } from "../stack/organization.ts";
import { expectStatus } from "../stack/state.ts";
import { errorDetails, newWorkspace, recordedApi, useFixture } from "./fixture.ts";

const fixture = useFixture();

test("a team that holds the lock is shown and can be included", async () => {
  proves("Workspace includes/locked_by");
  const { owner, organization, url } = fixture();
  const name = unusedName("lockers");
  const made = await expectStatus(
    201,
    owner.api.post(
      `/organizations/${organization}/teams`,
      document("teams", { name, "organization-access": { "manage-workspaces": true } }),
    ),
  );
  const { id: teamId } = made.body.data;
  const token = await expectStatus(201, owner.api.post(`/teams/${teamId}/authentication-token`));
  const team = recordedApi(url, token.body.data.attributes.token);
  const { id } = await newWorkspace(fixture());
  const path = `/workspaces/${id}`;
  await expectStatus(200, team.post(`${path}/actions/lock`));

  const { body } = await owner.api.get(`${path}?include=locked_by`);
  expect(body.data.relationships["locked-by"].data).toEqual({ type: "teams", id: teamId });
  expect(body.included).toMatchObject([{ type: "teams", id: teamId, attributes: { name } }]);
  const refused = await owner.api.post(`${path}/actions/unlock`);
  expect(refused.status).toBe(409);
  expect(errorDetails(refused)[0]).toContain(`is locked by Team ${name}`);
  const deleted = await owner.api.post(`${path}/actions/safe-delete`);
  expect(errorDetails(deleted)[0]).toContain(name);
  await expectStatus(200, team.post(`${path}/actions/unlock`));
});
