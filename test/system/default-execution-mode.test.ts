import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { document } from "../stack/http.ts";
import { newOrganization, unusedName } from "../stack/organization.ts";
import { expectStatus } from "../stack/state.ts";
import { newUser, newWorkspace, useFixture } from "./fixture.ts";

const fixture = useFixture({ settings: { DEFAULT_EXECUTION_MODE: "remote" } });

test("new organizations have the installation's default mode", async () => {
  proves("Organizations/default-execution-mode and default agent");
  const owner = await newUser(fixture().stack);
  const organization = await newOrganization(owner.api);
  const shown = await owner.api.get(`/organizations/${organization}`);
  expect(shown.body.data.attributes["default-execution-mode"]).toBe("remote");
  const { attributes } = await newWorkspace({ organization, owner });
  expect(attributes).toMatchObject({
    "execution-mode": "remote",
    operations: true,
    "setting-overwrites": { "execution-mode": false },
  });
  const name = unusedName("org");
  const creation = { name, email: "owner@example.com", "default-execution-mode": "local" };
  const { body } = await expectStatus(
    201,
    owner.api.post("/organizations", document("organizations", creation)),
  );
  expect(body.data.attributes["default-execution-mode"]).toBe("local");
});
