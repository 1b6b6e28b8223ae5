import { mentions } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { beforeEach, describe, expect, test } from "vitest";
import { eventually, healAll } from "./fixture.ts";
import { attempted, newLockedWorkspace, one, unlock, write } from "./steps.ts";
import { useFaultFixture } from "./use-fixture.ts";

const fixture = useFaultFixture(() => ({}));

const versions = (id: string) =>
  fixture().rows<{ id: string; status: string }>(
    "state",
    "select id, status from state_versions where workspace_id = $1",
    [id],
  );

describe("kill -9 of the gateway while it uploads inline state", () => {
  beforeEach(() => proves("Durability/what was acknowledged stays, whatever falls over"));
  test.each([
    ["before the bytes are uploaded", "requests", "pending"],
    ["after the bytes are stored", "answers", "finalized"],
  ] as const)("%s: a repeat completes the same version", async (_, direction, status) => {
    const { stack, proxies } = fixture();
    const id = await newLockedWorkspace(fixture());
    const state = one();
    const put = mentions("PUT /v1/object");
    const held = proxies.gatewayToObjects.hold(
      direction === "requests"
        ? { direction, when: put }
        : { direction, when: mentions("HTTP/1.1 200"), after: put },
    );
    const first = attempted(write(fixture(), id, state));
    await held;
    await stack.processes.gateway.kill();
    expect(await first).toBeUndefined();
    const [left, ...others] = await versions(id);
    expect(left?.status).toBe(status);
    expect(others).toEqual([]);
    await healAll(fixture());
    const repeated = await eventually(201, () => write(fixture(), id, state));
    expect(repeated.body.data.id).toBe(left?.id);
    expect(await versions(id)).toEqual([{ id: left?.id, status: "finalized" }]);
    expect((await unlock(fixture(), id)).status).toBe(200);
  });
});
