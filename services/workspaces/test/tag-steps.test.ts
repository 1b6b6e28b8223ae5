import { openDatabase } from "@statehouse/postgres";
import { createLogger } from "@statehouse/runtime";
import { proves } from "@statehouse/testing/proves";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrations } from "../migrations.ts";
import { entities, transactions } from "../nouns.ts";
import { type Person, type RunningWorkspaces, runWorkspaces } from "./running-workspaces.ts";

let running: RunningWorkspaces;
let owner: Person;
beforeAll(async () => {
  running = await runWorkspaces();
  owner = await running.person();
});
afterAll(() => running[Symbol.asyncDispose]());

const WORKSPACES = 3;
const workspace = fc.nat(WORKSPACES - 1);
const key = fc.constantFrom("a", "b", "c", "d");
const value = fc.constantFrom("", "", "1", "2");
const binding = fc.record({ key, value });
const bindings = fc.uniqueArray(binding, { selector: ({ key }) => key, maxLength: 3 });

/** One change of tags by a user. The tests apply random sequences of such changes. */
const step = fc.oneof(
  fc.record({ kind: fc.constant("add"), workspace, keys: fc.uniqueArray(key, { maxLength: 2 }) }),
  fc.record({
    kind: fc.constant("remove"),
    workspace,
    keys: fc.uniqueArray(key, { maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant("patch"), workspace, bindings }),
  fc.record({ kind: fc.constant("replace"), workspace, bindings }),
  fc.record({ kind: fc.constant("recreate"), workspace, bindings }),
  fc.record({ kind: fc.constant("deleteTag"), key }),
  fc.record({
    kind: fc.constant("assign"),
    key,
    workspaces: fc.uniqueArray(workspace, { maxLength: WORKSPACES }),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

interface ExpectedBinding {
  value: string;
  /** Whether the binding was added as a flat tag: only such bindings remain when a request replaces the bindings. */
  throughTags: boolean;
}

/** The expected bindings of each workspace, by key. A binding with an empty value is shown as a flat tag. */
type Model = Map<string, ExpectedBinding>[];

function applyTo(model: Model, step: Step): void {
  const of = (index: number) => model[index] ?? new Map<string, ExpectedBinding>();
  const addFlat = (bindings: Map<string, ExpectedBinding>, key: string) => {
    if (!bindings.has(key)) bindings.set(key, { value: "", throughTags: true });
  };
  const dropFlat = (bindings: Map<string, ExpectedBinding>, key: string) => {
    if (bindings.get(key)?.value === "") bindings.delete(key);
  };
  if (step.kind === "deleteTag" && "key" in step) {
    for (const bindings of model) dropFlat(bindings, step.key);
  } else if ("workspaces" in step) {
    const known = model.some((bindings) => bindings.get(step.key)?.value === "");
    if (known) for (const index of step.workspaces) addFlat(of(index), step.key);
  } else if ("keys" in step) {
    for (const key of step.keys) {
      if (step.kind === "add") addFlat(of(step.workspace), key);
      else dropFlat(of(step.workspace), key);
    }
  } else if ("bindings" in step) {
    const bindings = of(step.workspace);
    for (const [key, { throughTags }] of bindings) {
      if (step.kind === "recreate" || (step.kind === "replace" && !throughTags))
        bindings.delete(key);
    }
    for (const { key, value } of step.bindings) {
      bindings.set(key, { value, throughTags: step.kind === "recreate" && value === "" });
    }
  }
}

async function world() {
  const { name: organizationName } = await running.organization(owner);
  const ids: string[] = [];
  let names = 0;
  /** Creates a workspace. Flat tags are passed by name, as the CLI passes them. */
  async function create(initial: readonly { key: string; value: string }[] = []): Promise<string> {
    const [flat, valued] = [true, false].map((isFlat) =>
      initial.filter(({ value }) => (value === "") === isFlat),
    );
    const settings = {
      name: `workspace-${names++}`,
      tagNames: { values: flat?.map(({ key }) => key) ?? [] },
      tagBindings: { tagBindings: valued ?? [] },
    };
    const made = await running.service.createWorkspace({ organizationName, settings }, owner);
    return made.workspace?.id ?? "";
  }
  for (let number = 0; number < WORKSPACES; number++) ids.push(await create());
  const id = (index: number) => ids[index] ?? "";
  const list = () => running.tags.listOrganizationTags({ organizationName }, owner);
  const tagId = async (key: string) => (await list()).tags.find(({ name }) => name === key)?.id;
  const flat = (keys: readonly string[]) =>
    keys.map((name) => ({ by: { case: "name" as const, value: name } }));

  async function take(step: Step): Promise<void> {
    if (step.kind === "deleteTag" && "key" in step) {
      const tag = await tagId(step.key);
      if (!tag) return;
      const request = { organizationName, tagIds: [tag] };
      await running.tags.deleteOrganizationTags(request, owner);
    } else if ("workspaces" in step) {
      const tag = await tagId(step.key);
      if (!tag) return;
      const request = { tagId: tag, workspaceIds: step.workspaces.map(id) };
      await running.tags.addTagToWorkspaces(request, owner);
    } else if ("keys" in step) {
      const request = { workspaceId: id(step.workspace), tags: flat(step.keys) };
      if (step.kind === "add") await running.tags.addWorkspaceTags(request, owner);
      else await running.tags.removeWorkspaceTags(request, owner);
    } else if (step.kind === "recreate" && "bindings" in step) {
      const made = await create(step.bindings);
      // The old workspace is deleted after the new one has been created. Each tag of the old workspace then has one
      // workspace fewer.
      const before = ids.splice(step.workspace, 1, made);
      const workspace = { by: { case: "id" as const, value: before[0] ?? "" } };
      await running.service.deleteWorkspace({ workspace }, owner);
    } else if (step.kind === "patch" && "bindings" in step) {
      const request = { workspaceId: id(step.workspace), tagBindings: step.bindings };
      await running.tagBindings.updateWorkspaceTagBindings(request, owner);
    } else if ("bindings" in step) {
      const workspace = { by: { case: "id" as const, value: id(step.workspace) } };
      const settings = { tagBindings: { tagBindings: step.bindings } };
      await running.service.updateWorkspace({ workspace, settings }, owner);
    }
  }

  /** Returns the results of all methods that return tags. */
  async function shown() {
    const workspaces = [];
    for (const workspaceId of ids) {
      const { tagBindings } = await running.tagBindings.listWorkspaceTagBindings(
        { workspaceId },
        owner,
      );
      const { tags } = await running.tags.listWorkspaceTags({ workspaceId }, owner);
      const document = await running.service.getWorkspace(
        { workspace: { by: { case: "id", value: workspaceId } } },
        owner,
      );
      workspaces.push({
        bindings: tagBindings.map(({ key, value }) => `${key}=${value}`),
        tags: tags.map(({ name, instanceCount }) => `${name} ${instanceCount}`),
        names: document.workspace?.tagNames,
      });
    }
    const { tags, totalCount } = await list();
    const organization = tags.map(({ name, instanceCount }) => `${name} ${instanceCount}`);
    return { workspaces, organization, totalCount };
  }
  return { take, shown };
}

function expected(model: Model) {
  const counts = new Map<string, number>();
  for (const bindings of model) {
    for (const [key, { value }] of bindings) {
      if (value === "") counts.set(key, (counts.get(key) ?? 0) + 1);
    }
  }
  const workspaces = model.map((bindings) => {
    const sorted = [...bindings].toSorted(([one], [other]) => (one < other ? -1 : 1));
    const names = sorted.filter(([, { value }]) => value === "").map(([key]) => key);
    return {
      bindings: sorted.map(([key, { value }]) => `${key}=${value}`),
      tags: names.map((name) => `${name} ${counts.get(name)}`),
      names,
    };
  });
  const organization = [...counts].map(([name, count]) => `${name} ${count}`).toSorted();
  return { workspaces, organization, totalCount: organization.length };
}

test("tags keep their id if they are added while their last use is removed", async () => {
  const { take, shown } = await world();
  for (let round = 0; round < 10; round++) {
    await take({ kind: "add", workspace: 0, keys: ["a"] });
    await Promise.all([
      take({ kind: "remove", workspace: 0, keys: ["a"] }),
      take({ kind: "add", workspace: 1, keys: ["a", "b"] }),
    ]);
    expect(await shown()).toMatchObject({
      organization: ["a 1", "b 1"],
      workspaces: [{ names: [] }, { names: ["a", "b"] }, { names: [] }],
    });
    await take({ kind: "remove", workspace: 1, keys: ["a", "b"] });
    expect((await shown()).organization).toEqual([]);
  }
});

test("a flat tag that is deleted while its binding is written again remains a tag", async () => {
  const { id: organizationId, name: organizationName } = await running.organization(owner);
  const settings = { name: "tagged", tagNames: { values: ["a"] } };
  const { workspace } = await running.service.createWorkspace(
    { organizationName, settings },
    owner,
  );
  const owned = { organizationId, workspaceId: workspace?.id ?? "" } as never;
  const list = () => running.tags.listOrganizationTags({ organizationName }, owner);
  const { tags } = await list();
  const logger = createLogger({ service: "test", level: "silent" });
  const { url } = running;
  await using database = await openDatabase({
    contextName: "tags",
    url,
    entities,
    migrations,
    logger,
  });
  await transactions(database)(async (tx) => {
    const current = await tx.tagBindings.ofWorkspace(workspace?.id as never);
    const request = { organizationName, tagIds: tags.map(({ id }) => id) };
    await running.tags.deleteOrganizationTags(request, owner);
    // The binding was added as a flat tag, and is now bound.
    await tx.tagBindings.replace(owned, current, new Map([["a", ""]]), { now: new Date() });
  });
  expect((await list()).tags.map(({ name }) => name)).toEqual(["a"]);
});

test("bindings of concurrent requests are all kept", async () => {
  const { take, shown } = await world();
  const patch = (key: "a" | "b" | "c" | "d") =>
    take({ kind: "patch", workspace: 0, bindings: [{ key, value: "1" }] });
  await Promise.all([patch("a"), patch("b"), patch("c"), patch("d")]);
  const { workspaces } = await shown();
  expect(workspaces[0]?.bindings).toEqual(["a=1", "b=1", "c=1", "d=1"]);
});

test("tags and bindings remain consistent after any sequence of changes", async () => {
  proves("Tags/a flat tag and");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
      const { take, shown } = await world();
      const model: Model = Array.from({ length: WORKSPACES }, () => new Map());
      for (const one of steps) {
        await take(one);
        applyTo(model, one);
      }
      expect(await shown()).toEqual(expected(model));
    }),
    { numRuns: 15 },
  );
}, 120_000);

test("tags and bindings remain consistent after concurrent changes", async () => {
  proves("Tags/a flat tag and");
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 20 }), async (steps) => {
      const { take, shown } = await world();
      // A step fails if a concurrent step has removed its tag.
      await Promise.allSettled(steps.map(take));
      const { workspaces, organization } = await shown();
      const counts = new Map<string, number>();
      for (const { names, bindings, tags } of workspaces) {
        const flat = bindings.filter((text) => text.endsWith("=")).map((text) => text.slice(0, -1));
        expect(names).toEqual(flat);
        expect(tags.map((text) => text.split(" ")[0])).toEqual(flat);
        for (const name of flat) counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      expect(organization).toEqual(
        [...counts].map(([name, count]) => `${name} ${count}`).toSorted(),
      );
    }),
    { numRuns: 10 },
  );
}, 120_000);
