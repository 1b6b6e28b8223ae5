import { describe, expect, test } from "vitest";
import { ask, useGateway } from "../test/use-gateway.ts";

useGateway();

describe("a lock", () => {
  test.each([
    [undefined, ""],
    [{ reason: "x" }, "x"],
    [{ data: { type: "", attributes: { reason: "x" } } }, "x"],
    [{ data: { type: "", attributes: { reason: null } } }, ""],
  ])("takes its reason from %j", async (body, reason) => {
    const { status, json } = await ask("POST", "/api/v2/workspaces/ws-1/actions/lock", body);
    expect(status).toBe(200);
    expect(json.data.attributes).toMatchObject({ locked: true, "locked-reason": reason });
    expect(json.data.relationships["locked-by"].data).toEqual({ type: "users", id: "user-1" });
  });
  test("that is held returns 409 and names the holder", async () => {
    const { status, json } = await ask("POST", "/api/v2/workspaces/ws-1/actions/lock", {
      reason: "taken",
    });
    expect(status).toBe(409);
    expect(json.errors[0].detail).toContain("is locked by User Zoë");
  });
});
