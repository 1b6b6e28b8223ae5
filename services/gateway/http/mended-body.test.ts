import { AppError } from "@statehouse/errors";
import { expect, test } from "vitest";
import { createWorkspaceBody } from "../routes/workspace-settings.ts";
import { mendBody } from "./mended-body.ts";

const tags = (...names: unknown[]) => ({
  tags: { data: names.map((name) => ({ type: "tags", attributes: { name } })) },
});
const mend = (data: unknown) => {
  const { body, problems } = mendBody(createWorkspaceBody, { data });
  return { data: body.data, problems: problems.map(({ field, detail }) => `${field} ${detail}`) };
};

test("a good body is read as it is", () => {
  const { data, problems } = mend({ type: "workspaces", attributes: { name: "a" } });
  expect(data.attributes).toEqual({ name: "a" });
  expect(problems).toEqual([]);
});

test("what is wrong is told and taken out, and the rest is kept", () => {
  const attributes = { name: "a b", "auto-apply": "yes", description: 3, "queue-all-runs": true };
  const { data, problems } = mend({ type: "workspaces", attributes });
  expect(problems).toEqual([
    "/data/attributes/auto-apply Auto apply must be true or false",
    "/data/attributes/description Description must be a string",
  ]);
  expect(data.attributes).toEqual({ name: "a b", "queue-all-runs": true });
});

test("what must be there is put in, where it is missing or wrong", () => {
  const relationships = tags("fine", 3);
  const { data, problems } = mend({ type: "projects", attributes: {}, relationships });
  expect(problems).toEqual([
    '/data/type Type must be "workspaces"',
    "/data/attributes/name Name is required",
    "/data/relationships/tags/data/1/attributes/name Name must be a string",
  ]);
  expect(data).toMatchObject({
    type: "workspaces",
    attributes: { name: "" },
    relationships: { tags: ["fine", ""] },
  });
});

test("of two spellings that differ one is kept", () => {
  const versions = { "engine-version": "1.9.0", "terraform-version": "1.8.0" };
  const { data, problems } = mend({ type: "workspaces", attributes: { name: "a", ...versions } });
  expect(problems).toHaveLength(1);
  expect(data.attributes).toEqual({ name: "a", "engine-version": "1.9.0" });
});

test.each([[undefined], ["text"], [[]], [{ type: "workspaces", relationships: tags().tags.data }]])(
  "of %j there is something to be said in any case",
  (data) => {
    let told = 0;
    try {
      told = mend(data).problems.length;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      told = error.fields.length;
    }
    expect(told).toBeGreaterThan(0);
  },
);
