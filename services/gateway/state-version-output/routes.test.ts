import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { ask, useGateway } from "../test/use-gateway.ts";

useGateway();

describe("the outputs of a workspace", () => {
  const path = "/api/v2/workspaces/ws-1/current-state-version-outputs";
  test("are complete without paging: the CLI makes one request", async () => {
    proves("JSON:API/pagination");
    const { json } = await ask("GET", path);
    expect(json.data).toHaveLength(45);
    expect(json.meta.pagination).toMatchObject({ "total-pages": 1, "total-count": 45 });
  });
  test("have pages if a page is requested", async () => {
    const { json } = await ask("GET", `${path}?page%5Bsize%5D=10`);
    expect(json.data).toHaveLength(10);
    expect(json.meta.pagination).toMatchObject({ "total-pages": 5 });
  });
  test("keep every digit of a number", async () => {
    proves("JSON:API/kinds");
    expect((await ask("GET", path)).text).toContain('"value":12345678901234567890');
  });
});
