import process from "node:process";
import { cliConfiguration } from "@statehouse/standalone/cli-configuration";
import { childEnvironment, runProgram, sharedDependencies } from "@statehouse/testing";
import { expect, test } from "vitest";
import { unusedName } from "../stack/organization.ts";
import { startStack } from "../stack/stack.ts";
import { expectStatus } from "../stack/state.ts";
import { useStack } from "./fixture.ts";

const fixture = useStack(() => startStack());

const statehouse = (...args: string[]) =>
  runProgram(process.execPath, [sharedDependencies().program, ...args], {
    env: childEnvironment({}),
  });

test("cli-config prints the configuration of the command line, and creates the organization once", async () => {
  const { url, owner } = fixture();
  const name = unusedName("first");
  const access = { url, token: owner.token };
  const options = ["--url", url, "--token", owner.token];
  for (let round = 0; round < 2; round++) {
    const printed = await statehouse("cli-config", ...options, "--organization", name);
    const origin = "Written by `statehouse cli-config`.";
    expect(printed).toMatchObject({ code: 0, output: cliConfiguration({ ...access, origin }) });
  }
  const { body } = await expectStatus(200, owner.api.get(`/organizations/${name}`));
  expect(body.data.attributes.email).toMatch(/@/);
});

test("organization create creates an organization of the token's user", async () => {
  const { url, owner } = fixture();
  const name = unusedName("first");
  const create = (token: string, ...more: string[]) =>
    statehouse("organization", "create", name, "--url", url, "--token", token, ...more);
  expect(await create(owner.token)).toMatchObject({ code: 0, output: `created ${name}\n` });
  expect(await create(owner.token)).toMatchObject({ code: 0, output: `${name} exists\n` });
  await expectStatus(200, owner.api.get(`/organizations/${name}`));
  const refused = await create("another.token");
  expect([refused.code, refused.output]).toEqual([1, "The token is not valid.\n"]);
  const unusable = await create('a quoted " token');
  expect([unusable.code, unusable.output]).toEqual([1, "--token must be a token.\n"]);
});
