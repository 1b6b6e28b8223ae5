import { waitFor } from "@statehouse/testing";
import { expect } from "vitest";
import { halfSent } from "../stack/half-sent.ts";
import type { ServiceProcess } from "../stack/service-process.ts";
import { announcement, type StateFile, stateFile } from "../stack/state.ts";
import { type Fixture, newLockedWorkspace } from "./fixture.ts";

/**
 * Terminates the state service in the middle of an upload of about `size` bytes, expects that it completes the upload
 * and exits with 0, starts it again and unlocks the workspace. Returns the workspace, the upload URL and the state.
 */
export async function uploadDuringStop(
  { owner, organization }: Pick<Fixture, "owner" | "organization">,
  service: ServiceProcess,
  size: number,
): Promise<{ id: string; target: string; state: StateFile }> {
  const { id } = await newLockedWorkspace({ owner, organization });
  const state = stateFile({ marker: "x".repeat(size) });
  const created = await owner.api.post(`/workspaces/${id}/state-versions`, announcement(state));
  const target: string = created.body.data.attributes["hosted-state-upload-url"];
  const put = await halfSent("PUT", target, state.bytes);
  const stopped = service.terminate();
  await waitFor(async () => {
    const refused = await fetch(new URL("/v1/object/x", target)).catch(() => undefined);
    return refused === undefined;
  });
  put.finish();
  expect(await put.answer).toBe(200);
  expect(await stopped).toBe(0);
  await service.start();
  await waitFor(async () => {
    const unlocked = await owner.api.post(`/workspaces/${id}/actions/unlock`);
    return unlocked.status === 200;
  });
  return { id, target, state };
}
