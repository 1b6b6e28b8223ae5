import { ownPostgres, waitFor } from "@statehouse/testing";
import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { upload } from "../stack/http.ts";
import type { StateFile } from "../stack/state.ts";
import { eventually } from "./fixture.ts";
import {
  acknowledge,
  announce,
  newLockedWorkspace,
  one,
  succession,
  unlock,
  write,
} from "./steps.ts";
import { useFaultFixtureOn } from "./use-fixture.ts";

const { fixture, part: server } = useFaultFixtureOn(ownPostgres, (postgres) => ({ postgres }));

test.each(["stopped", "killed"])(
  "%s: requests return 503 and succeed again after the restart",
  async (end) => {
    const { owner, stack } = fixture();
    const id = await newLockedWorkspace(fixture());
    const state = one();
    const version = await announce(fixture(), id, state);
    await (end === "stopped" ? server().stop() : server().kill());
    const responses = await Promise.all([
      owner.api.get(`/workspaces/${id}`),
      owner.api.get(`/workspaces/${id}/current-state-version`),
      unlock(fixture(), id),
      write(fixture(), id, one()),
      upload(version.uploadUrl, state.bytes),
    ]);
    expect(responses.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
    for (const name of ["access", "workspaces", "state"] as const) {
      const ready = await fetch(`http://127.0.0.1:${stack.environments[name].OPS_PORT}/readyz`);
      expect(ready.status).toBe(503);
      expect(stack.processes[name].running).toBe(true);
    }
    await server().start();
    await eventually(200, () => upload(version.uploadUrl, state.bytes));
    acknowledge(fixture(), id, version.id, state);
    await eventually(200, () => unlock(fixture(), id));
  },
);

/** Writes states one after the other with retries, as clients do, and records the confirmed states. */
async function writeAll(id: string, states: readonly StateFile[], done: () => void): Promise<void> {
  for (const state of states) {
    await eventually(201, () => write(fixture(), id, state));
    done();
  }
}

test.each(["stopped", "killed"])("%s under load: no acknowledged write is lost", async (end) => {
  proves("Durability/what was acknowledged stays, whatever falls over");
  const ids = await Promise.all([1, 2, 3].map(() => newLockedWorkspace(fixture())));
  let written = 0;
  const restartTwice = async () => {
    for (const round of [1, 2]) {
      await waitFor(() => written >= round * 4);
      await (end === "stopped" ? server().stop() : server().kill());
      await server().start();
    }
  };
  const count = () => {
    written++;
  };
  await Promise.all([restartTwice(), ...ids.map((id) => writeAll(id, succession(8), count))]);
  for (const id of ids) {
    const current = await fixture().owner.api.get(`/workspaces/${id}/current-state-version`);
    expect(current.body.data.attributes.serial).toBe(8);
    await eventually(200, () => unlock(fixture(), id));
  }
});
