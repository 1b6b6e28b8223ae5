import { userInfo } from "node:os";
import { expect, test } from "vitest";
import { currentActor, runAs } from "./actor.ts";
import { runCommand } from "./command.ts";

test("an actor is that of the work that it causes, also in parallel", async () => {
  const after = async (id: string) => {
    await new Promise((resolve) => setImmediate(resolve));
    return [id, currentActor()?.id];
  };
  const both = ["a", "b"].map((id) => runAs({ type: "user", id }, () => after(id)));
  expect(await Promise.all(both)).toEqual([
    ["a", "a"],
    ["b", "b"],
  ]);
  expect(currentActor()).toBeUndefined();
});

test("the actor of a command is the operator's account", async () => {
  let actor: unknown;
  await runCommand("Test", async () => {
    actor = currentActor();
  });
  expect(actor).toEqual({ type: "operator", id: process.env.SUDO_USER ?? userInfo().username });
});
