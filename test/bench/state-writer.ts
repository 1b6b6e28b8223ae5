import { randomUUID } from "node:crypto";
import { waitFor } from "@statehouse/testing";
import { api, document } from "../stack/http.ts";
import type { Stack } from "../stack/stack.ts";
import { expectStatus } from "../stack/state.ts";
import type { Content } from "./content.ts";
import { get, put } from "./transfer.ts";

/** Durations of the requests of one write and of the download of its bytes, in ms. */
export interface WriteTimes {
  create: number;
  upload: number;
  current: number;
  download: number;
}

/** Writes state versions to its own workspace, which it has locked. */
export interface Writer {
  write(content: Content): Promise<WriteTimes>;
}

/** Locks a workspace without states, and returns its writer. */
export async function startWriter(
  { url, token }: { url: string; token: string },
  workspaceId: string,
): Promise<Writer> {
  const caller = api(url, token);
  const path = `/workspaces/${workspaceId}`;
  await expectStatus(200, caller.post(`${path}/actions/lock`));
  const lineage = randomUUID();
  let serial = 0;
  return {
    async write(content) {
      serial++;
      const startedAt = performance.now();
      const announced = document("state-versions", { serial, md5: content.md5, lineage });
      const created = await expectStatus(201, caller.post(`${path}/state-versions`, announced));
      const createdAt = performance.now();
      await put(created.body.data.attributes["hosted-state-upload-url"], content);
      const uploadedAt = performance.now();
      const { body } = await expectStatus(200, caller.get(`${path}/current-state-version`));
      if (body.data.id !== created.body.data.id) throw new Error("the version is not current");
      const currentAt = performance.now();
      await get(body.data.attributes["hosted-state-download-url"], content.size, {
        authorization: `Bearer ${token}`,
      });
      return {
        create: createdAt - startedAt,
        upload: uploadedAt - createdAt,
        current: currentAt - uploadedAt,
        download: performance.now() - currentAt,
      };
    },
  };
}

/** Waits until all states are extracted, because extraction would use CPU time during the next measurement. */
export async function nothingToExtract({ rows }: Stack): Promise<void> {
  const sql = "select 1 from state_versions where extraction_due_at is not null limit 1";
  const idle = async () => (await rows("state", sql)).length === 0;
  await waitFor(idle, { timeout: 120_000, interval: 50, what: "the extraction of states" });
}
