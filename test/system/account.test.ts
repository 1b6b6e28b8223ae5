import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { useFixture } from "./fixture.ts";

const fixture = useFixture();

test("the account details show the user of the token", async () => {
  proves("Teams and users/account/details and account/update");
  for (const { api, id, username } of [fixture().owner, fixture().reader]) {
    const { status, body } = await api.get("/account/details");
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id,
      type: "users",
      attributes: {
        username,
        email: `${username}@example.com`,
        "is-service-account": false,
        "two-factor": { enabled: false, verified: false },
      },
      links: { self: `/api/v2/users/${id}` },
    });
    expect(id).toMatch(/^user-[A-Za-z0-9]{16}$/);
  }
});
