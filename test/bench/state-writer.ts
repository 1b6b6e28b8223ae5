import { randomUUID } from "node:crypto";
import { waitFor } from "@statehouse/testing";
import { api, document } from "../stack/http.ts";
import { newOrganization } from "../stack/organization.ts";
import type { Stack } from "../stack/stack.ts";
import { expectStatus } from "../stack/state.ts";
import { newWorkspaceIn } from "../stack/workspace.ts";
import type { Content } from "./bytes/content.ts";
import { put } from "./bytes/transfer.ts";

/** Durations of the requests of one write, in ms. */
export interface WriteTimes {
  create: number;
  upload: number;
  current: number;
}

/** Writes state versions to its own workspace, which it has locked. */
export interface Writer {
  write(content: Content, headers?: Record<string, string>): Promise<WriteTimes>;
}

/** Creates a user with `count` locked workspaces, and a writer for each. */
export async function startWriters(stack: Stack, count: number): Promise<Writer[]> {
  const { token } = await stack.people.newUser();
  const caller = api(stack.url, token);
  const organization = await waitFor(() => newOrganization(caller));
  const writers: Writer[] = [];
  for (let index = 0; index < count; index++) {
    const path = `/workspaces/${(await newWorkspaceIn(caller, organization)).id}`;
    await expectStatus(200, caller.post(`${path}/actions/lock`));
    const lineage = randomUUID();
    let serial = 0;
    writers.push({
      async write({ md5, ...content }, headers = {}) {
        serial++;
        const startedAt = performance.now();
        const announced = document("state-versions", { serial, md5, lineage });
        const created = await expectStatus(
          201,
          caller.send("POST", `${path}/state-versions`, announced, headers),
        );
        const createdAt = performance.now();
        const url: string = created.body.data.attributes["hosted-state-upload-url"];
        await put(url, { md5, ...content }, headers);
        const uploadedAt = performance.now();
        const current = caller.send("GET", `${path}/current-state-version`, undefined, headers);
        const shown = await expectStatus(200, current);
        if (shown.body.data.id !== created.body.data.id)
          throw new Error("the version is not current");
        return {
          create: createdAt - startedAt,
          upload: uploadedAt - createdAt,
          current: performance.now() - uploadedAt,
        };
      },
    });
  }
  return writers;
}

/** Waits until all states are extracted, because extraction would use CPU time during the next measurement. */
export async function nothingToExtract({ rows }: Stack): Promise<void> {
  const sql = "select 1 from state_versions where extraction_due_at is not null limit 1";
  const idle = async () => (await rows("state", sql)).length === 0;
  await waitFor(idle, { timeout: 120_000, interval: 50, what: "the extraction of states" });
}
