import { proves } from "@statehouse/testing/proves";
import { describe, expect, test } from "vitest";
import { announcement, inlineState, stateFile } from "../stack/state.ts";
import { newLockedWorkspace, problems, useFixture } from "./fixture.ts";

const fixture = useFixture();

const create = (id: string, body: unknown) =>
  fixture().owner.api.post(`/workspaces/${id}/state-versions`, body);

describe("a create request", () => {
  test.each([
    ["/data/attributes/lineage", { lineage: "x".repeat(256) }],
    ["/data/attributes/lineage", { lineage: "a\u0000b" }],
    ["/data/attributes/lineage", { lineage: 5 }],
    ["/data/attributes/force", { force: "true" }],
    ["/data/attributes/serial", { serial: null }],
    ["/data/attributes/state", { state: "_-__" }],
    ["/data/attributes/json-state", { "json-state": "" }],
    ["/data/attributes/json-state-outputs", { "json-state-outputs": "" }],
  ])("is refused at %s: %j", async (pointer, attributes) => {
    proves(
      "State version creation/serial",
      "State version creation/state: optional Base64; given",
      "State version creation/json-state",
    );
    const { id } = await newLockedWorkspace(fixture());
    const answer = await create(id, announcement(stateFile(), attributes));
    expect(answer.status).toBe(422);
    expect(Object.keys(problems(answer))).toEqual([pointer]);
  });

  test.each([
    ["/data/relationships/run/data/id", { type: "runs", id: `run-${"x".repeat(300)}` }],
    ["/data/relationships/run/data/id", { type: "runs", id: "run-\u0000" }],
    ["/data/relationships/run/data/type", { type: "users", id: "run-0123456789abcdef" }],
    ["/data/relationships/run/data", [{ type: "runs", id: "run-0123456789abcdef" }]],
  ])("cannot name an invalid run: %s", async (pointer, data) => {
    proves("State version creation/relationships.run");
    const { id } = await newLockedWorkspace(fixture());
    const body = announcement(stateFile()).data;
    const answer = await create(id, { data: { ...body, relationships: { run: { data } } } });
    expect(answer.status).toBe(422);
    expect(Object.keys(problems(answer))).toEqual([pointer]);
  });

  test("may contain null for optional members; its md5 is accepted in upper and lower case", async () => {
    proves("State version creation/md5: required, of the", "State version creation/lineage");
    const { id } = await newLockedWorkspace(fixture());
    const state = stateFile();
    const nothing = { lineage: null, force: null, "json-state": null, "json-state-outputs": null };
    const body = inlineState(state, { ...nothing, md5: state.md5.toUpperCase() }).data;
    const answer = await create(id, { data: { ...body, relationships: { run: { data: null } } } });
    expect(answer.status).toBe(201);
    expect(answer.body.data.attributes).toMatchObject({ lineage: "", md5: state.md5 });
  });
});
