import { describe, expect, test } from "vitest";
import { ask, md5, seen, state, useGateway } from "../test/use-gateway.ts";

useGateway();

describe("inline state", () => {
  const path = "/api/v2/workspaces/ws-1/state-versions";
  const body = (attributes: object) => ({
    data: { type: "state-versions", attributes: { serial: 1, md5, ...attributes } },
  });
  const base64 = state.toString("base64");

  test("is uploaded, and the response is the finalized version", async () => {
    const { status, json } = await ask("POST", path, body({ state: base64 }));
    expect(status).toBe(201);
    expect(json.data.attributes).toMatchObject({ status: "finalized" });
    expect(seen.uploads).toEqual([["/v1/object/raw", state]]);
  });
  test("is uploaded after its JSON form, because the raw state finalizes the version", async () => {
    const json = Buffer.from("{}").toString("base64");
    expect((await ask("POST", path, body({ state: base64, "json-state": json }))).status).toBe(201);
    expect(seen.uploads.map(([url]) => url)).toEqual(["/v1/object/json", "/v1/object/raw"]);
  });
  test("is not uploaded again if the version has it", async () => {
    seen.uploaded = true;
    expect((await ask("POST", path, body({ state: base64 }))).status).toBe(201);
    expect(seen.uploads).toEqual([]);
  });
  test("is optional", async () => {
    const { status, json } = await ask("POST", path, body({}));
    expect(status).toBe(201);
    expect(json.data.attributes).toMatchObject({ status: "pending" });
  });
  test.each([
    [{ state: base64, md5: "0".repeat(32) }, "/data/attributes/md5"],
    [{ state: "***" }, "/data/attributes/state"],
    [{ state: "" }, "/data/attributes/state"],
    [{ "json-state": "" }, "/data/attributes/json-state"],
    [{ md5: "short" }, "/data/attributes/md5"],
    [{ serial: "1" }, "/data/attributes/serial"],
    [{ serial: -1 }, "/data/attributes/serial"],
    [{ "json-state-outputs": "*" }, "/data/attributes/json-state-outputs"],
  ])("that is invalid (%j) creates nothing", async (attributes, pointer) => {
    const { status, json } = await ask("POST", path, body(attributes));
    expect(status).toBe(422);
    expect(json.errors.map((e: { source: { pointer: string } }) => e.source.pointer)).toEqual([
      pointer,
    ]);
    expect(seen.created).toBe(0);
  });
  test("cannot be created with an organization's token", async () => {
    expect((await ask("POST", path, body({}), "organization-good")).status).toBe(404);
  });
});
