import { proves } from "@statehouse/testing/proves";
import { expect, test } from "vitest";
import { upload } from "../stack/http.ts";
import { startProcesses } from "../stack/stack.ts";
import {
  announcement,
  expectStatus,
  md5Of,
  processedVersion,
  type StateFile,
  stateFile,
} from "../stack/state.ts";
import { newLockedWorkspace, useStack } from "./fixture.ts";

/** The services are separate processes, because gRPC between them limits messages to 16 MiB. */
const fixture = useStack(() => startProcesses({ blobs: "directory" }));

const RESOURCES = 4000;
const large = "ö".repeat(9 * 1024 ** 2);

/** Returns the state with resource names of 5000 characters. */
function withLongNames(state: StateFile): StateFile {
  const content = JSON.parse(state.bytes.toString());
  for (const resource of content.resources) resource.name = resource.name.padEnd(5000, "x");
  const bytes = Buffer.from(JSON.stringify(content));
  return { ...state, bytes, md5: md5Of(bytes) };
}

test("documents larger than one message are shown: many resources, large outputs", async () => {
  proves("Extraction/states of any size, beside an event loop that stays free");
  const { owner } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const state = withLongNames(
    stateFile({
      resources: RESOURCES,
      outputs: {
        first: { value: large, type: "string" },
        second: { value: large, type: "string" },
        third: { value: 3, type: "number" },
      },
    }),
  );
  const { body } = await expectStatus(
    201,
    owner.api.post(`/workspaces/${id}/state-versions`, announcement(state)),
  );
  const put = await upload(body.data.attributes["hosted-state-upload-url"], state.bytes);
  expect(put.status).toBe(200);
  const patience = { timeout: 90_000, interval: 500 };
  const shown = await processedVersion(owner.api, body.data.id, patience);
  expect(shown.attributes.resources).toHaveLength(RESOURCES);

  const outputs = await owner.api.get(`/workspaces/${id}/current-state-version-outputs`);
  expect(outputs.status).toBe(200);
  const values = new Map<string, unknown>(
    outputs.body.data.map(({ attributes }: { attributes: { name: string; value: unknown } }) => [
      attributes.name,
      attributes.value,
    ]),
  );
  expect([...values.keys()]).toEqual(["first", "second", "third"]);
  expect(values.get("second") === large).toBe(true);

  const including = await owner.api.get(`/state-versions/${body.data.id}?include=outputs`);
  expect(including.status).toBe(200);
  expect(including.body.included).toHaveLength(3);
  const included = await owner.api.get(`/workspaces/${id}?include=outputs`);
  expect(included.status).toBe(200);
  expect(included.body.included).toHaveLength(3);
}, 180_000);

test("outputs in a request larger than one message are stored", async () => {
  const { owner } = fixture();
  const { id } = await newLockedWorkspace(fixture());
  const encodedOutputs = JSON.stringify({ large: { value: `${large}${large}`, type: "string" } });
  const state = stateFile();
  const { body } = await expectStatus(
    201,
    owner.api.post(
      `/workspaces/${id}/state-versions`,
      announcement(state, {
        state: state.bytes.toString("base64"),
        "json-state-outputs": Buffer.from(encodedOutputs).toString("base64"),
      }),
    ),
  );
  const outputs = await owner.api.get(`/state-versions/${body.data.id}/outputs`);
  expect(outputs.status).toBe(200);
  expect(outputs.body.data[0].attributes.value).toHaveLength(2 * large.length);
}, 180_000);
