import { needs } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { cloud, compatFixture, type Fixture, remote } from "./fixture.ts";

needs("terraform")("state push of the real command line", () => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await compatFixture();
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  describe.each([
    ["cloud", cloud],
    ["remote", remote],
  ] as const)("with the %s block", (kind, block) => {
    const prepared = async (name: string) => {
      const folder = await fixture.folder(
        block(fixture.organization, `name = "push-${kind}-${name}"`),
      );
      await folder.succeed("init");
      await folder.succeed("apply", "-auto-approve");
      await folder.succeed("apply", "-auto-approve", "-var", "greeting=changed");
      const state = JSON.parse((await folder.succeed("state", "pull")).stdout);
      return { folder, state };
    };

    test("a push with a serial below the current one is refused, and succeeds with -force", async () => {
      proves("Command line/push", "State version creation/force");
      const { folder, state } = await prepared("serial");
      await folder.write("old.tfstate", JSON.stringify({ ...state, serial: state.serial - 1 }));
      const refused = await folder.run("state", "push", "old.tfstate");
      expect(refused.code).not.toBe(0);
      expect(refused.output).toMatch(/serial/i);
      await folder.succeed("state", "push", "-force", "old.tfstate");
    });

    test("a push with another lineage is refused and changes nothing", async () => {
      proves("Command line/push", "State version creation/lineage");
      const { folder, state } = await prepared("lineage");
      const other = "11111111-2222-3333-4444-555555555555";
      await folder.write("foreign.tfstate", JSON.stringify({ ...state, lineage: other }));
      const refused = await folder.run("state", "push", "foreign.tfstate");
      expect(refused.code).not.toBe(0);
      expect(refused.output).toMatch(/lineage/i);
      const now = JSON.parse((await folder.succeed("state", "pull")).stdout);
      expect(now).toEqual(state);
    });

    test("a push with a new serial succeeds", async () => {
      proves("Command line/push");
      const { folder, state } = await prepared("new");
      await folder.write("next.tfstate", JSON.stringify({ ...state, serial: state.serial + 1 }));
      await folder.succeed("state", "push", "next.tfstate");
      const now = JSON.parse((await folder.succeed("state", "pull")).stdout);
      expect(now.serial).toBeGreaterThan(state.serial);
    });
  });
});
